//! Each validation of councils and chains, once, and the seed's order.

use crate::examples::{
    LEWIS, SOL_FORGE, STRANGER, chain, council, council_draft, json, sprite, summary, with,
};
use mizzen_json::Json;
use mizzen_model::chain::Chain;
use mizzen_model::council::{Council, CouncilDraft, CouncilStamp, GateAgentRefusal};
use mizzen_model::document::Document;
use mizzen_model::id::{ChainId, CouncilId, SpriteId};
use mizzen_model::sprite::Sprite;
use mizzen_model::timestamp::Timestamp;

fn found(problems: &mizzen_model::problem::Problems) -> Vec<String> {
    summary(problems)
        .into_iter()
        .map(|(path, code)| format!("{path} {code}"))
        .collect()
}

#[test]
fn documents_with_every_field_come_back_as_they_were_written() {
    for text in [council(), chain(), sprite(LEWIS, "LEWIS-06")] {
        let document = json(&text);
        assert_eq!(Document::parse(&document).unwrap().to_json(), document);
    }
}

#[test]
fn a_document_that_is_none_or_several_of_the_three_is_refused() {
    for text in ["{}", "[]", r#"{"steps":[],"sprites":[]}"#] {
        assert_eq!(
            found(&Document::parse(&json(text)).unwrap_err()),
            [" unknown_document"],
            "{text}"
        );
    }
}

#[test]
fn every_mistake_of_the_chain_table_is_found_where_it_is() {
    let check = |pointer: &str, value: Option<&str>, expected: &[&str]| {
        let document = with(&chain(), pointer, value);
        let problems = Chain::parse(&document).err().unwrap_or_default();
        assert_eq!(found(&problems), expected, "{pointer} = {value:?}");
    };
    for field in ["id", "name", "gates", "timeout"] {
        let pointer = format!("/{field}");
        check(&pointer, None, &[&format!("{pointer} missing")]);
    }
    check("/steps", Some("[]"), &["/steps too_short"]);
    check("/name", Some("\" \""), &["/name pattern"]);
    for bad in ["\"0s\"", "\"1d\"", "\"5 m\"", "\"-1s\"", "\"1.5h\"", "\"5M\""] {
        check("/timeout", Some(bad), &["/timeout pattern"]);
    }
    check(
        "/timeout",
        Some("\"99999999999999999999h\""),
        &["/timeout too_long"],
    );
    check("/timeout", Some("30"), &["/timeout wrong_type"]);
    check("/steps/0/timeout", Some("\"x1\""), &["/steps/0/timeout pattern"]);
    check("/steps/0/order", Some("-1"), &["/steps/0/order out_of_range"]);
    check("/steps/0/order", Some("0.5"), &["/steps/0/order wrong_type"]);
    check("/steps/0/order", Some("\"0\""), &["/steps/0/order wrong_type"]);
    check("/steps/0/order", Some("1e300"), &["/steps/0/order wrong_type"]);
    check("/steps/0/order", Some("0.0"), &[]);
    check("/steps/0/action", Some("\"\""), &["/steps/0/action too_short"]);
    check(
        "/steps/0/input_map",
        Some("[]"),
        &["/steps/0/input_map wrong_type"],
    );
    check("/steps/0/retries", Some("11"), &["/steps/0/retries out_of_range"]);
    check(
        "/gates/0/position",
        Some("\"during\""),
        &["/gates/0/position not_in_enum"],
    );
    check("/gates/0/scope", Some("\"run\""), &["/gates/0/scope not_in_enum"]);
    check(
        "/gates/0/condition",
        Some(&format!("\"{}\"", "é".repeat(2048))),
        &[],
    );
    check(
        "/gates/0/condition",
        Some(&format!("\"{}\"", "é".repeat(2049))),
        &["/gates/0/condition too_long"],
    );
    check(
        "/gates/0/veto_message",
        Some(&format!("\"{}\"", "é".repeat(1024))),
        &[],
    );
    check(
        "/gates/0/veto_message",
        Some(&format!("\"{}\"", "é".repeat(1025))),
        &["/gates/0/veto_message too_long"],
    );
    check("/gates/0/extra", Some("1"), &["/gates/0/extra unknown_field"]);
}

#[test]
fn every_mistake_of_a_rule_is_found_where_it_is() {
    let check = |pointer: &str, value: Option<&str>, expected: &[&str]| {
        let document = with(&council_draft(), pointer, value);
        let problems = CouncilDraft::parse(&document).err().unwrap_or_default();
        assert_eq!(found(&problems), expected, "{pointer} = {value:?}");
    };
    for field in ["id", "name", "condition", "action"] {
        let pointer = format!("/rules/0/{field}");
        check(&pointer, None, &[&format!("{pointer} missing")]);
    }
    check("/rules/0/hook", None, &[]);
    check("/rules/0/enforcement", None, &[]);
    check(
        "/rules/0/action",
        Some("\"block\""),
        &["/rules/0/action not_in_enum"],
    );
    check(
        "/rules/0/enforcement",
        Some("\"strict\""),
        &["/rules/0/enforcement not_in_enum"],
    );
    check(
        "/rules/0/hook",
        Some("\"mailto:someone@x\""),
        &["/rules/0/hook pattern"],
    );
    check(
        "/rules/0/condition",
        Some(&format!("\"{}\"", "é".repeat(4096))),
        &[],
    );
    check(
        "/rules/0/condition",
        Some(&format!("\"{}\"", "é".repeat(4097))),
        &["/rules/0/condition too_long"],
    );
    check("/chains/0/id", None, &[]);
    check("/chains/0/gates", None, &[]);
    check("/chains/0/timeout", None, &["/chains/0/timeout missing"]);
    check("/chains", None, &[]);
    check("/rules", None, &[]);
    check("/name", Some("\"\""), &["/name too_short"]);
}

#[test]
fn domain_then_sprites_then_gate_agents_are_named_before_anything_else() {
    let problems = CouncilDraft::parse(&json(
        r#"{"zzz": 1, "rules": 7, "chains": [{}], "gate_agents": [], "sprites": [], "domain": ""}"#,
    ))
    .unwrap_err();
    assert_eq!(
        found(&problems)[..4],
        [
            "/domain too_short",
            "/sprites too_short",
            "/gate_agents too_short",
            "/chains/0/name missing"
        ]
    );
    let problems = CouncilDraft::parse(&json("{}")).unwrap_err();
    assert_eq!(
        found(&problems),
        ["/domain missing", "/sprites missing", "/gate_agents missing"]
    );
    let problems = CouncilDraft::parse(&with(&council_draft(), "/domain", Some("\" \\t\""))).unwrap_err();
    assert_eq!(found(&problems), ["/domain pattern"]);
}

fn draft_of(sprites: &[&str], gate_agents: &[&str]) -> CouncilDraft {
    let list = |ids: &[&str]| {
        ids.iter()
            .map(|id| format!("\"{id}\""))
            .collect::<Vec<_>>()
            .join(",")
    };
    let text = format!(
        r#"{{"domain": "d", "sprites": [{}], "gate_agents": [{}]}}"#,
        list(sprites),
        list(gate_agents)
    );
    CouncilDraft::parse(&json(&text)).unwrap()
}

#[test]
fn missing_ids_are_listed_in_the_clients_order() {
    let draft = draft_of(&[STRANGER, SOL_FORGE], &[STRANGER, LEWIS]);
    let exists = |id: SpriteId| id.to_string() == SOL_FORGE;
    assert_eq!(
        draft.missing_sprites(exists),
        [SpriteId::parse(STRANGER).unwrap()]
    );
    let missing: Vec<String> = draft
        .missing_gate_agents(exists)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(missing, [STRANGER, LEWIS]);
}

#[test]
fn gate_agents_are_members_first_and_exactly_one_second() {
    let stranger = SpriteId::parse(STRANGER).unwrap();
    let refusal = |sprites: &[&str], agents: &[&str]| draft_of(sprites, agents).gate_agent();
    assert_eq!(
        refusal(&[SOL_FORGE, LEWIS], &[LEWIS]),
        Ok(SpriteId::parse(LEWIS).unwrap())
    );
    assert_eq!(
        refusal(&[SOL_FORGE], &[SOL_FORGE, STRANGER]),
        Err(GateAgentRefusal::NotMembers(vec![stranger]))
    );
    assert_eq!(
        refusal(&[SOL_FORGE, LEWIS], &[LEWIS, SOL_FORGE]),
        Err(GateAgentRefusal::NotExactlyOne(2))
    );
    assert_eq!(
        refusal(&[LEWIS], &[LEWIS, LEWIS]),
        Err(GateAgentRefusal::NotExactlyOne(2))
    );
}

#[test]
fn a_member_named_twice_is_refused() {
    let document = with(&council_draft(), "/sprites/2", Some(&format!("\"{LEWIS}\"")));
    assert_eq!(
        found(&CouncilDraft::parse(&document).unwrap_err()),
        ["/sprites/2 duplicate"]
    );
}

fn resolve(draft: &Json, known: &[Chain]) -> Council {
    let draft = CouncilDraft::parse(draft).unwrap_or_else(|problems| panic!("{problems}"));
    let sprites = [sprite(SOL_FORGE, "SOL-FORGE"), sprite(LEWIS, "LEWIS-06")]
        .map(|text| Sprite::parse(&json(&text)).unwrap())
        .to_vec();
    let mut next = 0;
    let stamp = CouncilStamp {
        id: CouncilId::parse("00000000-0000-4000-8000-00000000000a").unwrap(),
        gate_agent: SpriteId::parse(LEWIS).unwrap(),
        sprites,
        created_at: Timestamp::from_unix_ms(0),
        updated_at: Timestamp::from_unix_ms(1),
        chains: known,
    };
    draft.resolve(stamp, || {
        next += 1;
        ChainId::parse(&format!("00000000-0000-4000-8000-0000000000{next:02}")).unwrap()
    })
}

#[test]
fn a_council_without_a_name_takes_its_domain_and_chains_get_new_ids() {
    let council = resolve(&json(&council_draft()), &[]);
    assert_eq!(council.name, "engineering");
    assert_eq!(
        council.chains[0].id.to_string(),
        "00000000-0000-4000-8000-000000000001"
    );
    assert_eq!(council.sprites.len(), 2);
    assert!(Council::parse(&council.to_json()).is_ok());
}

#[test]
fn a_chain_that_the_council_has_keeps_its_id_once() {
    let known = [Chain::parse(&json(&chain())).unwrap()];
    let twice = with(&council_draft(), "/chains/1", Some(&chain()));
    let council = resolve(&twice, &known);
    assert_eq!(council.chains[0].id, known[0].id);
    assert_ne!(council.chains[1].id, known[0].id);
}

#[test]
fn the_structure_of_a_council_is_judged_where_it_is_wrong() {
    let check = |pointer: &str, value: Option<&str>, problems: &[&str], warnings: &[&str]| {
        let review = resolve(&with(&council_draft(), pointer, value), &[]).structure();
        assert_eq!(found(&review.problems), problems, "{pointer} = {value:?}");
        assert_eq!(found(&review.warnings), warnings, "{pointer} = {value:?}");
    };
    let stranger = format!("\"{STRANGER}\"");
    let forge = format!("\"{SOL_FORGE}\"");
    check("/domain", Some("\"other\""), &[], &[]);
    check(
        "/chains/0/steps/1/order",
        Some("0"),
        &["/chains/0/steps/1/order step_order"],
        &[],
    );
    check(
        "/chains/0/steps/1/order",
        Some("2"),
        &["/chains/0/steps/1/order step_order"],
        &[],
    );
    check(
        "/chains/0/steps/0/sprite_id",
        Some(&stranger),
        &["/chains/0/steps/0/sprite_id sprite_not_in_council"],
        &[],
    );
    check(
        "/chains/0/gates/0/sprite_id",
        Some(&forge),
        &["/chains/0/gates/0/sprite_id invalid_gate_agent"],
        &[],
    );
    check(
        "/chains/0/gates/0/scope",
        Some("\"step\""),
        &["/chains/0/gates/0/scope gate_place"],
        &[],
    );
    check(
        "/chains/0/steps/0/gates_before/0/sprite_id",
        Some(&forge),
        &["/chains/0/steps/0/gates_before/0/sprite_id invalid_gate_agent"],
        &[],
    );
    check(
        "/chains/0/steps/0/gates_after/0/position",
        Some("\"before\""),
        &["/chains/0/steps/0/gates_after/0/position gate_place"],
        &[],
    );
    check(
        "/chains/0/steps/0/action",
        Some("\"fly\""),
        &[],
        &["/chains/0/steps/0/action undeclared_action"],
    );
    check("/chains/1", Some(&chain()), &["/chains/1/name duplicate"], &[]);
    check("/rules/1/id", Some("\"r1\""), &["/rules/1/id duplicate"], &[]);
}

#[test]
fn gate_authority_is_claimed_by_one_member_at_most() {
    let mut council = resolve(&json(&council_draft()), &[]);
    council.sprites[0].body.gate_authority = Some(true);
    assert_eq!(
        found(&council.structure().warnings),
        ["/sprites/0 unused_gate_authority"]
    );
    council.sprites[1].body.gate_authority = Some(true);
    assert_eq!(
        found(&council.structure().problems),
        ["/sprites/1 invalid_gate_agent"]
    );
    council.sprites[0].body.gate_authority = None;
    let review = council.structure();
    assert!(review.problems.is_empty() && review.warnings.is_empty());
}

#[test]
fn every_condition_is_listed_with_its_path() {
    let council = resolve(&json(&council_draft()), &[]);
    let gates: Vec<String> = council.gate_conditions().map(|(path, _)| path).collect();
    assert_eq!(
        gates,
        [
            "/chains/0/steps/0/gates_before/0/condition",
            "/chains/0/steps/0/gates_after/0/condition",
            "/chains/0/gates/0/condition",
            "/chains/0/gates/1/condition"
        ]
    );
    let rules: Vec<String> = council.rule_conditions().map(|(path, _)| path).collect();
    assert_eq!(
        rules,
        ["/rules/0/condition", "/rules/1/condition", "/rules/2/condition"]
    );
}

#[test]
fn drift_names_changed_and_deleted_members() {
    let council = resolve(&json(&council_draft()), &[]);
    let mut changed = council.sprites[0].clone();
    changed.fingerprint = changed.computed_fingerprint();
    assert_ne!(changed.fingerprint, council.sprites[0].fingerprint);
    let drift = council.drift_from(|id| (id == changed.id).then(|| changed.fingerprint.to_string()));
    assert_eq!(drift.len(), 2);
    assert_eq!(
        drift[0].current.as_deref(),
        Some(changed.fingerprint.to_string().as_str())
    );
    assert_eq!(drift[1].current, None);
    let same = council.drift_from(|id| Some(council.sprite(id)?.fingerprint.to_string()));
    assert!(same.is_empty());
}
