use super::*;

const GOOD: &str = r#"
[plugin]
name = "text"
version = "1.2.0"
api_version = "1"
namespaces = ["acme.text", "acme.words"]
provides = ["tool"]
order = 100

[permissions]
"net:API.example.com" = "fetches the forecast"
clock = "stamps the answer"

[limits]
memory = "32MiB"
cpu = "1s"
table_elements = 500

[tools.count.limits]
output = "4KiB"

[config]
type = "object"
[config.properties.city]
type = "string"
"#;

#[test]
fn a_complete_manifest_is_read() {
    let manifest = Manifest::parse(GOOD).unwrap();
    assert_eq!(manifest.name().as_str(), "text");
    assert_eq!(manifest.version(), &Version::new(1, 2, 0));
    assert_eq!(manifest.order(), 100);
    assert_eq!(manifest.stated_order(), Some(100));
    assert_eq!(
        manifest.provides().iter().copied().collect::<Vec<_>>(),
        [Provides::Tool]
    );
    assert!(manifest.claims(&Namespace::parse("acme.text.more").unwrap()));
    assert!(!manifest.claims(&Namespace::parse("acme").unwrap()));
    let permissions: Vec<String> = manifest.permissions().keys().map(ToString::to_string).collect();
    assert_eq!(permissions, ["clock", "net:api.example.com"]);
    assert_eq!(manifest.limits().memory, Some(ByteSize::mib(32)));
    assert_eq!(manifest.limits().wall_clock, None);
    assert_eq!(
        manifest.tool_limits("count").unwrap().output,
        Some(ByteSize::kib(4))
    );
    assert_eq!(
        manifest.config_schema().unwrap()["properties"]["city"]["type"],
        "string"
    );
}

#[test]
fn an_omitted_order_is_not_a_stated_one() {
    let manifest = Manifest::parse(&GOOD.replace("order = 100", "")).unwrap();
    assert_eq!((manifest.stated_order(), manifest.order()), (None, 5_000));
    for (order, fits) in [
        ("0", true),
        ("10000", true),
        ("10001", false),
        ("-1", false),
        ("1.0", false),
        ("\"5\"", false),
    ] {
        let text = GOOD.replace("order = 100", &format!("order = {order}"));
        assert_eq!(Manifest::parse(&text).is_ok(), fits, "{order}");
    }
}

/// One line of the good manifest is replaced; the problem must name its line and say what is expected.
fn check(replace: &str, with: &str, line: usize, said: &[&str]) {
    let problems = Manifest::parse(&GOOD.replace(replace, with)).unwrap_err();
    let shown = problems.to_string();
    assert!(
        problems
            .problems
            .iter()
            .any(|problem| problem.position.unwrap().line == line),
        "{with}: no problem on line {line}: {shown}"
    );
    for said in said {
        assert!(shown.contains(said), "{with}: `{said}` is not in: {shown}");
    }
}

#[test]
fn each_thing_that_is_refused_names_its_line_and_what_is_expected() {
    check(
        "name = \"text\"",
        "name = \"Text\"",
        3,
        &["plugin.name", "`Text` is not a plugin name", "lowercase"],
    );
    check("name = \"text\"", "name = \"../text\"", 3, &["not a plugin name"]);
    check("name = \"text\"", "name = 3", 3, &["expected a string"]);
    check("name = \"text\"", "", 2, &["plugin.name: it is missing"]);
    check("1.2.0", "1.2", 4, &["not a SemVer version", "MAJOR.MINOR.PATCH"]);
    check("1.2.0", "v1.2.0", 4, &["not a SemVer version"]);
    check("1.2.0", "01.2.0", 4, &["not a SemVer version"]);
    check(
        "api_version = \"1\"",
        "api_version = \"2\"",
        5,
        &["plugin.api_version", "api_version = \"1\""],
    );
    check(
        "api_version = \"1\"",
        "api_version = 1",
        5,
        &["expected a string in quotes, found integer"],
    );
    check("\"acme.words\"", "\"acme..words\"", 6, &["is not a namespace"]);
    check("\"acme.words\"", "\"acme.text\"", 6, &["there twice"]);
    check(
        "namespaces = [\"acme.text\", \"acme.words\"]",
        "namespaces = []",
        6,
        &["0 entries"],
    );
    check(
        "provides = [\"tool\"]",
        "provides = [\"tools\"]",
        7,
        &["tool, skill, store or pack"],
    );
    check(
        "provides = [\"tool\"]",
        "provides = \"tool\"",
        7,
        &["a list in square brackets"],
    );
    check("order = 100", "order = 10001", 8, &["0 to 10000"]);
    check(
        "order = 100",
        "author = \"me\"",
        8,
        &["unknown key `author`", "name, version, api_version"],
    );
    check(
        "clock = \"stamps the answer\"",
        "clock = true",
        12,
        &["expected a string"],
    );
    check(
        "clock = \"stamps the answer\"",
        "clock = \"\"",
        12,
        &["why the plugin needs it"],
    );
    check(
        "clock = \"stamps the answer\"",
        "\"kv:all\" = \"x\"",
        12,
        &["kv:read, kv:write or kv:*"],
    );
    check(
        "clock = \"stamps the answer\"",
        "\"net:api.EXAMPLE.com\" = \"x\"",
        12,
        &["twice"],
    );
    check(
        "memory = \"32MiB\"",
        "memory = \"32MB\"",
        15,
        &["KiB, MiB or GiB"],
    );
    check("memory = \"32MiB\"", "memory = 32", 15, &["expected a string"]);
    check(
        "cpu = \"1s\"",
        "fuel = 5",
        16,
        &["unknown key `fuel`", "memory, cpu, wall_clock"],
    );
    check("table_elements = 500", "table_elements = 0", 17, &["from 1 to"]);
    check(
        "[tools.count.limits]",
        "[tools.Count.limits]",
        19,
        &["is not a tool name"],
    );
    check(
        "[tools.count.limits]",
        "[tools.count.rights]",
        19,
        &["unknown key `rights`"],
    );
    check("[config]", "[settings]", 22, &["unknown key `settings`"]);
}

#[test]
fn all_problems_are_reported_together_in_the_order_of_the_lines() {
    let text = GOOD
        .replace("1.2.0", "one")
        .replace("order = 100", "order = 99999")
        .replace("\"32MiB\"", "\"lots\"");
    let lines: Vec<usize> = Manifest::parse(&text)
        .unwrap_err()
        .problems
        .iter()
        .map(|problem| problem.position.unwrap().line)
        .collect();
    assert_eq!(lines, [4, 8, 15]);
}

#[test]
fn hostile_text_is_an_error_and_nothing_else() {
    let huge = "x".repeat(MAX_MANIFEST + 1);
    let namespaces: String = (0..100).map(|n| format!("\"n{n}\",")).collect();
    let permissions: String = (0..2_000).map(|n| format!("\"secret:s{n}\" = \"x\"\n")).collect();
    let texts = [
        String::new(),
        huge,
        "plugin = 5".to_owned(),
        "[[plugin]]\nname = \"a\"".to_owned(),
        GOOD.replace("[\"acme.text\", \"acme.words\"]", &format!("[{namespaces}]")),
        GOOD.replace("clock = ", &format!("{permissions}clock = ")),
        GOOD.replace("type = \"object\"", "type = nan"),
        GOOD.replace(
            "type = \"object\"",
            &format!("type = {}1{}", "[".repeat(100), "]".repeat(100)),
        ),
        format!("{GOOD}\n[plugin]\n"),
    ];
    for text in texts {
        assert!(Manifest::parse(&text).is_err(), "{}", shorten(&text));
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,200}") {
        let _ = Manifest::parse(&text);
    }

    #[test]
    fn no_damage_to_a_good_manifest_makes_the_parser_panic(at in 0..GOOD.len(), byte in 0u8..128) {
        let mut bytes = GOOD.as_bytes().to_vec();
        bytes[at] = byte;
        if let Ok(text) = String::from_utf8(bytes) {
            let _ = Manifest::parse(&text);
        }
    }
}
