use super::*;

const GOOD: &str = r#"
[plugins]
folders = ["plugins"]
files = ["/opt/extra/a.wasm"]
watch = true
max_package = "8MiB"
disabled = ["old", "text@1.0.0"]
[plugins.default]
text = "1.4.0"

[grants.plugin]
text = ["kv:read", "net:API.example.com"]
[grants.namespace]
"acme.*" = ["clock"]

[trust]
mode = "tofu"
file = "keys/trust.toml"

[limits]
memory = "32MiB"

[secrets]
github = { env = "GITHUB_TOKEN" }
other = { file = "secrets/other" }

[config.text]
city = "Bern"

[server]
port = 1
"#;

fn parse(text: &str) -> Result<PluginConfig, Problems> {
    PluginConfig::parse(text, Path::new("base"), &["server"])
}

#[test]
fn the_plugin_parts_are_read_and_paths_are_relative_to_the_file() {
    let config = parse(GOOD).unwrap();
    assert_eq!(config.sources.folders, [Path::new("base/plugins")]);
    assert_eq!(config.sources.files, [Path::new("/opt/extra/a.wasm")]);
    assert_eq!((config.watch, config.max_package), (true, 8 << 20));
    assert_eq!(config.sources.disabled.len(), 2);
    assert_eq!(config.sources.defaults.get("text"), Some(&Version::new(1, 4, 0)));
    let granted: Vec<String> = config
        .grants
        .plugin
        .get("text")
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(granted, ["kv:read", "net:api.example.com"]);
    assert_eq!(config.grants.namespace.len(), 1);
    assert_eq!(
        (config.mode, config.trust_file.as_path()),
        (TrustMode::Tofu, Path::new("base/keys/trust.toml"))
    );
    assert_eq!(
        config.ceiling,
        Limits {
            memory: ByteSize::mib(32),
            ..Limits::CEILING
        }
    );
    assert_eq!(
        config.secrets.get("github"),
        Some(&SecretSource::Environment("GITHUB_TOKEN".to_owned()))
    );
    assert_eq!(
        config.secrets.get("other"),
        Some(&SecretSource::File("base/secrets/other".into()))
    );
    assert_eq!(config.settings.get("text").unwrap()["city"], "Bern");
}

#[test]
fn an_empty_file_grants_and_trusts_nothing() {
    let config = parse("").unwrap();
    assert_eq!(config.grants, Grants::default());
    assert_eq!(config.mode, TrustMode::Pinned);
    assert!(config.sources.folders.is_empty() && config.sources.files.is_empty() && !config.watch);
}

#[test]
fn each_thing_that_is_refused_names_its_line() {
    for (replace, with, line, expected) in [
        ("folders =", "folder =", 3, "unknown key `folder`"),
        ("[\"plugins\"]", "\"plugins\"", 3, "a list in square brackets"),
        ("watch = true", "watch = \"yes\"", 5, "true or false"),
        ("\"8MiB\"", "\"8MB\"", 6, "KiB, MiB or GiB"),
        ("\"text@1.0.0\"", "\"text@one\"", 7, "name@1.2.0"),
        ("text = \"1.4.0\"", "text = \"1.4\"", 9, "1.2.0"),
        ("[grants.plugin]", "[grants.plugins]", 11, "unknown key `plugins`"),
        (
            "\"kv:read\"",
            "\"kv:everything\"",
            12,
            "kv:read, kv:write or kv:*",
        ),
        ("\"acme.*\"", "\"*.acme\"", 14, "namespace pattern"),
        ("\"tofu\"", "\"everybody\"", 17, "pinned, tofu or dev"),
        ("memory", "ram", 21, "unknown key `ram`"),
        (
            "{ env = \"GITHUB_TOKEN\" }",
            "\"hunter2\"",
            24,
            "does not belong in mizzen.toml",
        ),
        (
            "{ env = \"GITHUB_TOKEN\" }",
            "{ env = \"A\", file = \"b\" }",
            24,
            "exactly one place",
        ),
        ("{ env = \"GITHUB_TOKEN\" }", "{}", 24, "exactly one place"),
        ("[config.text]", "[config.Text]", 27, "not a plugin name"),
        ("[server]", "[servers]", 30, "unknown key `servers`"),
    ] {
        let problems = parse(&GOOD.replacen(replace, with, 1)).unwrap_err();
        assert!(
            problems
                .problems
                .iter()
                .any(|problem| problem.position.unwrap().line == line),
            "{with}: {problems}"
        );
        assert!(problems.to_string().contains(expected), "{with}: {problems}");
    }
}

#[test]
fn grants_are_added_and_removed_without_touching_the_rest() {
    let name = PluginName::parse("text").unwrap();
    let permission = |text: &str| Permission::parse(text).unwrap();
    let commented = GOOD.replace("[grants.plugin]", "# my grants\n[grants.plugin]");
    let added = add_grants(
        &commented,
        &name,
        &[permission("clock"), permission("net:api.example.com")],
    )
    .unwrap();
    assert!(added.contains("# my grants"));
    let granted = parse(&added).unwrap().grants.plugin.get("text").unwrap().clone();
    assert_eq!(
        granted.len(),
        3,
        "one new, one was there in other spelling: {added}"
    );
    let removed = remove_grants(&added, &name, &[permission("clock")]).unwrap();
    assert_eq!(
        parse(&removed).unwrap().grants.plugin.get("text").unwrap().len(),
        2
    );
    assert!(
        !parse(&remove_grants(&removed, &name, &[]).unwrap())
            .unwrap()
            .grants
            .plugin
            .contains_key("text")
    );
    let fresh = add_grants("", &name, &[permission("clock")]).unwrap();
    assert_eq!(fresh.trim(), "[grants.plugin]\ntext = [\"clock\"]");
    assert!(matches!(
        add_grants("grants = 3", &name, &[]),
        Err(EditError::NotATable("grants"))
    ));
    assert!(matches!(
        add_grants("[grants.plugin]\ntext = 1", &name, &[]),
        Err(EditError::NotAList(_))
    ));
}

#[test]
fn private_hosts_are_names_without_a_port_in_one_spelling() {
    let parsed = |hosts: &str| {
        let text = format!("[plugins]\nprivate_hosts = [{hosts}]\n");
        PluginConfig::parse(&text, Path::new(""), &[]).map(|config| config.private_hosts)
    };
    let read: Vec<String> = parsed("\"Intranet.Example.\", \"localhost\"")
        .unwrap()
        .into_iter()
        .collect();
    assert_eq!(read, ["intranet.example", "localhost"]);
    for bad in ["\"*.example\"", "\"a:80\"", "\"http://a/\"", "\"\"", "7"] {
        assert!(parsed(bad).is_err(), "{bad}");
    }
    assert!(
        PluginConfig::parse("", Path::new(""), &[])
            .unwrap()
            .private_hosts
            .is_empty()
    );
}

#[test]
fn a_secret_that_stands_in_the_file_is_refused_with_the_two_ways_to_write_it() {
    let problems = PluginConfig::parse("[secrets]\nx = \"plain\"\n", Path::new(""), &[]).unwrap_err();
    let message = problems.to_string();
    assert!(
        message.contains("{ env = \"NAME\" } or { file = \"PATH\" }") && !message.contains("plain"),
        "{message}"
    );
}
