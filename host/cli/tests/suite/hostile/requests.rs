//! Requests that are meant to exhaust the server's process. What only confuses is tested in `host/server`.

use crate::support::documents::sprite;
use crate::support::http::Served;

/// R12: 414 bytes of YAML took half a second and 300 MiB before they were refused.
#[test]
fn a_yaml_alias_bomb_is_refused_before_it_grows() {
    let (_folder, server) = Served::fresh();
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..=9 {
        let items = vec![format!("*a{}", level - 1); 10].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    let peak = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    };
    let yaml = ("content-type", "application/yaml");
    server.send("POST", "/v1/sprites", &[yaml], b"a: [x]\n");
    let before = peak();
    for _ in 0..4 {
        let refused = server
            .send("POST", "/v1/sprites", &[yaml], bomb.as_bytes())
            .expect(400, "MALFORMED_BODY");
        assert!(
            refused["message"].as_str().unwrap().contains("aliases"),
            "{refused}"
        );
    }
    let grown = peak() - before;
    assert!(grown < 64, "{} bytes took {grown} MiB", bomb.len());
    // One anchor, used twice: as people write it.
    let mut sprite = serde_json::to_string(&sprite("SOL-FORGE")).unwrap();
    sprite = sprite.replace("\"author\":\"ada\"", "\"author\": &me \"ada\"");
    sprite = sprite.replace("\"tags\":[", "\"tags\":[*me,");
    assert!(sprite.contains("*me"));
    server
        .send("POST", "/v1/sprites", &[yaml], sprite.as_bytes())
        .expect(201, "");
}
