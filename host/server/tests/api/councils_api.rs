//! Councils over HTTP, in this process: the seeds' story in order and to the letter, and what is refused or doubtful.

use crate::support::TestHost;
use crate::support::documents::{NOBODY, chain, council, sprite};
use serde_json::{Value, json};

#[test]
fn the_story_of_the_seeds_from_health_to_a_council() {
    let server = TestHost::new();
    let health = server.call("GET", "/health").expect(200, "");
    assert_eq!(health["status"], "healthy");
    for check in [
        "database",
        "sprite_registry",
        "council_registry",
        "plugins",
        "telemetry",
    ] {
        assert_eq!(health["checks"][check], "healthy");
    }
    assert!(health["uptime_seconds"].is_u64() && health["version"].is_string());
    let timestamp = health["timestamp"].as_str().unwrap();
    assert!(timestamp.len() == 20 && timestamp.ends_with('Z'), "{timestamp}");

    let created = server.call_json("POST", "/v1/sprites", &sprite("SOL-FORGE"));
    let forge = created.expect(201, "");
    let id = forge["id"].as_str().unwrap();
    assert_eq!(
        created.header("location"),
        Some(format!("/v1/sprites/{id}").as_str())
    );
    assert_eq!(forge["name"], "SOL-FORGE");
    assert_eq!(forge["metadata"]["created"], "2026-04-27T10:00:00Z");
    assert_eq!(forge["fingerprint"]["type"], "blake3");
    assert_eq!(forge["fingerprint"]["hash"].as_str().unwrap().len(), 64);
    assert_eq!(
        forge["unresolved"][0]["capability"], "generate_code",
        "no plugin is installed"
    );

    let read = server.call("GET", &format!("/v1/sprites/{id}"));
    let mut expected = forge.clone();
    expected.as_object_mut().unwrap().remove("unresolved");
    assert_eq!(read.expect(200, ""), expected);
    assert_eq!(read.header("etag"), created.header("etag"));

    let print = server
        .call("GET", &format!("/v1/sprites/{id}/fingerprint"))
        .expect(200, "");
    let text = format!("blake3:{}", forge["fingerprint"]["hash"].as_str().unwrap());
    assert_eq!(print, json!({"stored": text, "computed": text, "verified": true}));

    let lewis = server.register(&sprite("LEWIS-06"));
    let mut wanted = council("engineering", &[id, &lewis]);
    wanted["gate_agents"] = json!([lewis]);
    wanted["chains"] = json!([chain(id, &lewis)]);
    wanted["rules"] = json!([{
        "id": "prod-needs-a-person",
        "name": "Production needs a person",
        "condition": "has(input.target) && input.target == 'production'",
        "action": "escalate",
        "hook": "notify:slack:#iris-alerts"
    }]);
    let made = server.call_json("POST", "/v1/councils", &wanted);
    let body = made.expect(201, "");
    assert_eq!(
        (&body["domain"], &body["name"]),
        (&json!("engineering"), &json!("engineering"))
    );
    assert_eq!(body["sprites"][0], expected, "the sprites are embedded in full");
    assert_eq!(body["gate_agents"], json!([lewis]));
    assert_eq!(body["chains"][0]["id"].as_str().unwrap().len(), 36);
    assert_eq!(body["chains"][0]["steps"][0]["action"], "generate_code");
    let again = server.call("GET", made.header("location").unwrap());
    assert_eq!(again.expect(200, ""), body);
    assert_eq!(
        server.call("GET", "/v1/councils").expect(200, "")["councils"],
        json!([body])
    );
}

#[test]
fn the_eight_validations_of_a_council_come_in_the_order_of_the_seed() {
    let server = TestHost::new();
    let one = server.register(&sprite("ONE-1"));
    let two = server.register(&sprite("TWO-2"));
    let post = |body: Value| server.call_json("POST", "/v1/councils", &body);
    post(council("taken", &[&one])).expect(201, "");

    // Every body has all the later mistakes too: only the order decides which one is told.
    let empty: [&str; 0] = [];
    let domain =
        post(json!({"domain": "", "sprites": empty, "gate_agents": empty})).expect(400, "VALIDATION_ERROR");
    assert_eq!(domain["details"]["errors"][0]["path"], "/domain");
    let sprites = post(json!({"domain": "taken", "sprites": empty, "gate_agents": empty}))
        .expect(400, "VALIDATION_ERROR");
    assert_eq!(sprites["details"]["errors"][0]["path"], "/sprites");
    let gates = post(json!({"domain": "taken", "sprites": [NOBODY], "gate_agents": empty}))
        .expect(400, "VALIDATION_ERROR");
    assert_eq!(gates["details"]["errors"][0]["path"], "/gate_agents");
    let other = "00000000-0000-4000-8000-000000000001";
    let missing =
        post(json!({"domain": "taken", "sprites": [one, NOBODY, other], "gate_agents": [NOBODY, other]}));
    let missing = missing.expect(404, "SPRITE_NOT_FOUND");
    assert_eq!(missing["details"]["missing_sprites"], json!([NOBODY, other]));
    let agents = post(json!({"domain": "taken", "sprites": [one], "gate_agents": [NOBODY, two]}));
    assert_eq!(
        agents.expect(404, "GATE_AGENT_NOT_FOUND")["details"]["missing_gate_agents"],
        json!([NOBODY])
    );
    let member = post(json!({"domain": "taken", "sprites": [one], "gate_agents": [one, two]}));
    assert_eq!(
        member.expect(400, "INVALID_GATE_AGENT")["details"]["gate_agents"],
        json!([two])
    );
    post(json!({"domain": "taken", "sprites": [one, two], "gate_agents": [one, two]}))
        .expect(400, "INVALID_GATE_AGENT");
    let mut bad_chain = council("taken", &[&one]);
    bad_chain["chains"] = json!([chain(&two, &one)]);
    let conflict = post(bad_chain).expect(409, "COUNCIL_CONFLICT");
    assert_eq!(conflict["details"]["domain"], "taken");
}

#[test]
fn what_is_wrong_inside_a_council_is_refused_and_what_is_doubtful_is_warned_of() {
    let server = TestHost::new();
    let one = server.register(&sprite("ONE-1"));
    let two = server.register(&sprite("TWO-2"));
    let check = |change: &dyn Fn(&mut Value), status: u16, code: &str, problem: &str| {
        let mut body = council("inside", &[&one, &two]);
        body["chains"] = json!([chain(&two, &one)]);
        change(&mut body);
        let answer = server
            .call_json("POST", "/v1/councils", &body)
            .expect(status, code);
        let codes: Vec<&str> = answer["details"]["errors"]
            .as_array()
            .map(|errors| errors.iter().filter_map(|error| error["code"].as_str()).collect())
            .unwrap_or_default();
        assert!(
            problem.is_empty() || codes.contains(&problem),
            "{problem}: {answer}"
        );
    };
    let step = |body: &mut Value, name: &str, value: Value| body["chains"][0]["steps"][0][name] = value;
    check(
        &|body| step(body, "sprite_id", json!(NOBODY)),
        400,
        "VALIDATION_ERROR",
        "sprite_not_in_council",
    );
    check(
        &|body| step(body, "order", json!(1)),
        400,
        "VALIDATION_ERROR",
        "step_order",
    );
    check(
        &|body| step(body, "input_map", json!({"a": "$steps[0].output.x"})),
        400,
        "VALIDATION_ERROR",
        "forward_reference",
    );
    check(
        &|body| step(body, "input_map", json!({"a": "$nowhere.x"})),
        400,
        "VALIDATION_ERROR",
        "map",
    );
    check(
        &|body| body["chains"][0]["timeout"] = json!("0s"),
        400,
        "VALIDATION_ERROR",
        "pattern",
    );
    check(
        &|body| body["chains"][0]["steps"] = json!([]),
        400,
        "VALIDATION_ERROR",
        "too_short",
    );
    check(
        &|body| body["chains"][0]["gates"][0]["sprite_id"] = json!(two),
        400,
        "INVALID_GATE_AGENT",
        "",
    );
    check(
        &|body| body["chains"][0]["gates"][0]["condition"] = json!("output. >"),
        400,
        "VALIDATION_ERROR",
        "condition",
    );
    let rule = |condition: &str, action: &str| json!([{"id": "r", "name": "A rule", "condition": condition, "action": action}]);
    check(
        &|body| body["rules"] = rule("(((", "deny"),
        400,
        "VALIDATION_ERROR",
        "condition",
    );
    check(
        &|body| body["rules"] = rule("council.domain == 'inside'", "deny"),
        409,
        "RULE_DENIED",
        "",
    );
    check(
        &|body| body["rules"] = rule("council.no_such_field == 1", "allow"),
        409,
        "RULE_DENIED",
        "",
    );
    check(
        &|body| body["oops"] = json!(1),
        400,
        "VALIDATION_ERROR",
        "unknown_field",
    );

    // S3: what the table finds, what conditions say and what is only doubtful are reported together.
    let both = |body: &mut Value, other: &str, value: Value| {
        body["chains"][0]["gates"][0]["condition"] = json!("output. >");
        body[other] = value;
    };
    check(
        &|body| both(body, "oops", json!(1)),
        400,
        "VALIDATION_ERROR",
        "unknown_field",
    );
    check(
        &|body| both(body, "oops", json!(1)),
        400,
        "VALIDATION_ERROR",
        "condition",
    );
    let undeclared = |body: &mut Value| {
        body["chains"][0]["gates"][0]["condition"] = json!("output. >");
        step(body, "action", json!("undeclared"));
    };
    check(&undeclared, 400, "VALIDATION_ERROR", "condition");
    check(&undeclared, 400, "VALIDATION_ERROR", "undeclared_action");

    let mut body = council("inside", &[&one, &two]);
    body["chains"] = json!([chain(&two, &one)]);
    body["chains"][0]["steps"][0]["action"] = json!("undeclared");
    let accepted = server.call_json("POST", "/v1/councils", &body).expect(201, "");
    assert_eq!(accepted["warnings"][0]["code"], "undeclared_action", "{accepted}");
}

/// C2, D26: every way to take a protected sprite or its step out of a council needs force, also without the chain's id.
#[test]
fn a_protected_sprite_and_its_steps_leave_a_council_only_by_force() {
    let server = TestHost::new();
    let mut guarded = sprite("BECK-02");
    guarded["protected"] = json!(true);
    let beck = server.register(&guarded);
    let lewis = server.register(&sprite("LEWIS-06"));
    let mut body = council("guarded", &[&lewis, &beck]);
    body["chains"] = json!([chain(&beck, &lewis)]);
    let made = server.call_json("POST", "/v1/councils", &body);
    let location = made.header("location").unwrap().to_owned();
    let id = made.expect(201, "")["chains"][0]["id"].clone();

    type Change = fn(&mut Value, &str);
    let changes: [(&str, Change); 6] = [
        ("another sprite's step, no id", |body, lewis| {
            body["chains"][0]["steps"][0]["sprite_id"] = json!(lewis);
        }),
        ("another sprite's step, another name", |body, lewis| {
            body["chains"][0]["name"] = json!("other");
            body["chains"][0]["steps"][0]["sprite_id"] = json!(lewis);
        }),
        ("another action of the same sprite", |body, _| {
            body["chains"][0]["steps"][0]["action"] = json!("idle");
        }),
        ("empty chains", |body, _| body["chains"] = json!([])),
        ("no chains", |body, _| {
            drop(body.as_object_mut().unwrap().remove("chains"))
        }),
        ("not a member", |body, lewis| {
            body["sprites"] = json!([lewis]);
            body["chains"] = json!([]);
        }),
    ];
    for (what, change) in changes {
        for with_id in [false, true] {
            let mut changed = body.clone();
            change(&mut changed, &lewis);
            if let (true, Some(chain)) = (with_id, changed.pointer_mut("/chains/0")) {
                chain["id"] = id.clone();
            }
            let refused = server.call_json("PUT", &location, &changed);
            assert_eq!(refused.status, 409, "{what}, chain id: {with_id}");
            refused.expect(409, "PROTECTED_SPRITE");
        }
    }
    // The same council without the chain's id keeps the step: nothing leaves.
    server.call_json("PUT", &location, &body).expect(200, "");

    // A snapshot that is no longer protected takes the protection out.
    let mut open = guarded.clone();
    open["version"] = json!("2.0.0");
    open["protected"] = json!(false);
    server
        .call_json("PUT", &format!("/v1/sprites/{beck}"), &open)
        .expect(200, "");
    server
        .call_json("PUT", &location, &body)
        .expect(409, "PROTECTED_SPRITE");
    server.call("DELETE", &location).expect(409, "PROTECTED_SPRITE");
    server
        .call_json("PUT", &format!("{location}?force=true"), &body)
        .expect(200, "");
    server.call("DELETE", &location).expect(204, "");

    open["version"] = json!("3.0.0");
    open["protected"] = json!(true);
    server
        .call_json("PUT", &format!("/v1/sprites/{beck}"), &open)
        .expect(200, "");
    let made = server.call_json("POST", "/v1/councils", &body);
    let location = made.header("location").unwrap().to_owned();
    made.expect(201, "");
    server.call("DELETE", &location).expect(409, "PROTECTED_SPRITE");
    server
        .call("DELETE", &format!("{location}?force=true"))
        .expect(204, "");
}

/// C2, D26: gate authority and gates are what a gate agent does in a council.
#[test]
fn a_protected_gate_agent_and_its_gates_leave_a_council_only_by_force() {
    let server = TestHost::new();
    let beck = server.register(&sprite("BECK-02"));
    let mut guarded = sprite("LEWIS-06");
    guarded["protected"] = json!(true);
    let lewis = server.register(&guarded);
    let mut body = council("gated", &[&lewis, &beck]);
    body["chains"] = json!([chain(&beck, &lewis)]);
    let gate = |condition: &str| json!({"sprite_id": lewis, "condition": condition});
    body["chains"][0]["steps"][0]["gates_before"] = json!([gate("has(input.user_prompt)")]);
    let made = server.call_json("POST", "/v1/councils", &body);
    let location = made.header("location").unwrap().to_owned();
    let id = made.expect(201, "")["chains"][0]["id"].clone();

    type Change = fn(&mut Value, &str);
    let changes: [(&str, Change); 4] = [
        ("another gate agent", |body, beck| {
            body["gate_agents"] = json!([beck]);
            body["chains"][0]["gates"][0]["sprite_id"] = json!(beck);
            body["chains"][0]["steps"][0]["gates_before"][0]["sprite_id"] = json!(beck);
        }),
        ("no gates", |body, _| body["chains"][0]["gates"] = json!([])),
        ("a gate at another position", |body, _| {
            body["chains"][0]["gates"][0]["position"] = json!("on_error");
        }),
        ("no gate of the step", |body, _| {
            body["chains"][0]["steps"][0]["gates_before"] = json!([]);
        }),
    ];
    for (what, change) in changes {
        for with_id in [false, true] {
            let mut changed = body.clone();
            change(&mut changed, &beck);
            if with_id {
                changed["chains"][0]["id"] = id.clone();
            }
            let refused = server.call_json("PUT", &location, &changed);
            assert_eq!(refused.status, 409, "{what}, chain id: {with_id}");
            refused.expect(409, "PROTECTED_SPRITE");
        }
    }
    // What a gate asks may change, and gates may be added.
    let mut stricter = body.clone();
    stricter["chains"][0]["gates"][0]["condition"] = json!("output.confidence >= 0.9");
    stricter["chains"][0]["gates"]
        .as_array_mut()
        .unwrap()
        .push(json!({"position": "before", "sprite_id": lewis, "condition": "has(input.user_prompt)"}));
    server.call_json("PUT", &location, &stricter).expect(200, "");
    let mut without = body.clone();
    without["chains"][0]["gates"] = json!([]);
    server
        .call_json("PUT", &format!("{location}?force=true"), &without)
        .expect(200, "");
}

/// W28: names where ids were needed. What is stored has ids.
#[test]
fn sprites_councils_and_chains_are_named_by_their_names() {
    let server = TestHost::new();
    let register = |name: &str, version: &str| {
        let mut document = sprite(name);
        document["version"] = json!(version);
        let made = server.call_json("POST", "/v1/sprites", &document).expect(201, "");
        made["id"].as_str().unwrap().to_owned()
    };
    let old = register("SOL-FORGE", "1.9.0");
    let new = register("SOL-FORGE", "1.10.0");
    let lewis = register("LEWIS-06", "1.0.0");
    let step = |name: &str| {
        json!({"order": 0, "sprite_id": name, "action": "generate_code", "input_map": {},
               "gates_before": [{"sprite_id": "LEWIS-06", "condition": "true"}]})
    };
    let chain = |name: &str, sprite: &str| {
        json!({"name": name, "timeout": "30s", "steps": [step(sprite)],
               "gates": [{"position": "before", "sprite_id": "LEWIS-06", "condition": "true"}]})
    };
    let body = |forge: &str, names: [&str; 2]| {
        json!({"domain": "named", "sprites": [forge, "LEWIS-06"], "gate_agents": ["LEWIS-06"],
               "chains": names.map(|name| chain(name, forge))})
    };
    let made = server
        .call_json("POST", "/v1/councils", &body("SOL-FORGE", ["one", "two"]))
        .expect(201, "");
    let ids = |council: &Value| {
        let id = |value: &Value| value.as_str().unwrap().to_owned();
        (
            id(&council["sprites"][0]["id"]),
            id(&council["gate_agents"][0]),
            id(&council["chains"][0]["steps"][0]["sprite_id"]),
        )
    };
    assert_eq!(ids(&made), (new.clone(), lewis.clone(), new));
    assert_eq!(made["chains"][0]["gates"][0]["sprite_id"], lewis.as_str());
    let path = format!("/v1/councils/{}", made["id"].as_str().unwrap());
    let put = server
        .call_json("PUT", &path, &body("SOL-FORGE@1.9.0", ["one", "two"]))
        .expect(200, "");
    assert_eq!(ids(&put).0, old);
    let refused = server.call_json("POST", "/v1/councils", &body("SOL-FORGE@2.0.0", ["a", "b"]));
    let refused = refused.expect(404, "SPRITE_NOT_FOUND");
    assert_eq!(
        refused["details"]["missing_sprites"],
        json!(["SOL-FORGE@2.0.0"]),
        "{refused}"
    );

    let execute = |body: Value| server.call_json("POST", "/v1/chains/execute", &body);
    // A chain that is called what another one's id is: a name that means two of them means none.
    let one = put["chains"][0]["id"].as_str().unwrap();
    let mut odd = body("SOL-FORGE", ["one", one]);
    odd["chains"][0]["id"] = json!(one);
    server.call_json("PUT", &path, &odd).expect(200, "");
    let several = execute(json!({"council": "named", "chain": one, "input": {}}));
    let several = several.expect(400, "VALIDATION_ERROR");
    assert_eq!(
        several["details"]["chain_ids"].as_array().unwrap().len(),
        2,
        "{several}"
    );
    server
        .call_json("PUT", &path, &body("SOL-FORGE", ["one", "two"]))
        .expect(200, "");
    let ended = execute(json!({"council": "named", "chain": "two", "input": {}})).expect(200, "");
    assert_eq!(ended["council_id"], made["id"]);
    let unknown =
        execute(json!({"council": "named", "chain": "three", "input": {}})).expect(404, "CHAIN_NOT_FOUND");
    assert!(
        unknown["message"].as_str().unwrap().contains("it has one, two"),
        "{unknown}"
    );
    execute(json!({"council": "other", "chain": "one", "input": {}})).expect(404, "COUNCIL_NOT_FOUND");
    let both = json!({"council": "named", "council_id": made["id"], "chain": "one", "input": {}});
    execute(both).expect(400, "VALIDATION_ERROR");
    let text =
        execute(json!({"council": "named", "chain_id": "two", "input": {}})).expect(400, "VALIDATION_ERROR");
    assert_eq!(text["details"]["errors"][0]["code"], "pattern", "{text}");
}
