//! Clients that others generate from `/openapi.json`, in Python and in TypeScript: each calls every operation of a real host once.
//!
//! `clients/story.json` is the table: a row is one call, for both clients. An operation without a row fails. The generators and what they
//! need are pinned in `clients/` and installed on the first run, below the target folder.

use crate::support::council;
use crate::support::host::Host;
use crate::support::http::Served;
use crate::support::{packages, programs};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Classes that a generated client may have for what goes wrong: the envelope, its codes and details, and the error of an execution.
const ERROR_CLASSES: usize = 4;
/// Classes in all; it was 935 when every status of every operation had its own.
const CLASSES: usize = 300;

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

fn story() -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(sources().join("story.json")).unwrap()).unwrap()
}

/// A host with plugins and a pack of its own, and the package that is installed again.
struct Stage {
    host: Host,
    server: Served,
    document: PathBuf,
    package: PathBuf,
}

impl Stage {
    fn set() -> Self {
        let host = council::host().pack("plugins/budgets");
        let package = host.path("package.wasm");
        std::fs::write(&package, packages::plugin("plugins/text").bytes).unwrap();
        let server = host.serve();
        let document = host.path("openapi.json");
        std::fs::write(&document, server.call("GET", "/openapi.json").body).unwrap();
        Self {
            host,
            server,
            document,
            package,
        }
    }
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    printed
}

#[test]
fn a_generated_python_client_calls_every_operation() {
    let programs = programs::python("python-client", &sources().join("requirements.txt"));
    let stage = Stage::set();
    let folder = stage.host.folder();
    let path = std::env::var("PATH").unwrap_or_default();
    let generated = run(Command::new(programs.join("openapi-python-client"))
        .current_dir(folder)
        // It formats what it wrote with a program of its own environment.
        .env("PATH", format!("{}:{path}", programs.display()))
        .args([
            "generate",
            "--meta",
            "none",
            "--overwrite",
            "--output-path",
            "client",
            "--path",
        ])
        .arg(&stage.document));
    let models = std::fs::read_dir(folder.join("client/models")).unwrap();
    let models: Vec<String> = models
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".py") && name != "__init__.py")
        .collect();
    let errors: Vec<&String> = models
        .iter()
        .filter(|name| {
            ["error", "response_4", "response_5"]
                .iter()
                .any(|part| name.contains(part))
        })
        .collect();
    assert!(errors.len() <= ERROR_CLASSES, "{errors:?}");
    assert!(models.len() <= CLASSES, "{} classes: {generated}", models.len());
    run(Command::new(programs.join("python"))
        .current_dir(folder)
        .env("PYTHONPATH", folder)
        .arg(sources().join("calls.py"))
        .arg(&stage.server.url)
        .args([&stage.document, &sources().join("story.json"), &stage.package]));
}

#[test]
fn a_generated_typescript_client_calls_every_operation() {
    let tools = programs::node("typescript-client", &sources());
    let stage = Stage::set();
    let folder = stage.host.folder();
    std::os::unix::fs::symlink(tools.join("node_modules"), folder.join("node_modules")).unwrap();
    for file in ["package.json", "tsconfig.json", "run.mjs"] {
        std::fs::copy(sources().join(file), folder.join(file)).unwrap();
    }
    let document: Value = serde_json::from_slice(&std::fs::read(&stage.document).unwrap()).unwrap();
    std::fs::write(folder.join("calls.ts"), typescript(&document, &story())).unwrap();
    let program = |name: &str| {
        let mut command = Command::new(folder.join("node_modules/.bin").join(name));
        command.current_dir(folder);
        command
    };
    run(program("openapi-typescript").args(["openapi.json", "--output", "api.d.ts"]));
    run(program("tsc").args(["--project", "tsconfig.json"]));
    run(Command::new("node")
        .current_dir(folder)
        .args(["run.mjs", &stage.server.url])
        .arg(&stage.package));
}

/// The story as a program that the compiler holds against the generated types.
fn typescript(document: &Value, story: &[Value]) -> String {
    let mut operations = BTreeMap::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            operations.insert(id, (method.to_ascii_uppercase(), path, operation));
        }
    }
    let told: Vec<&str> = story
        .iter()
        .map(|step| step["operation"].as_str().unwrap())
        .collect();
    let missing: Vec<_> = operations.keys().filter(|id| !told.contains(*id)).collect();
    assert!(
        missing.is_empty(),
        "{missing:?}: no call; add a row to host/cli/tests/clients/story.json"
    );
    let mut program = String::from(
        "import type { Client } from \"openapi-fetch\";\nimport type { paths } from \"./api.js\";\n\
         type Answer = { response: Response; data?: unknown; error?: unknown };\n\
         export interface Tools {\n  package: Uint8Array;\n  kept(name: string): string;\n  \
         done(operation: string, status: number, answer: Answer, keep: Record<string, string>): void;\n}\n\
         export async function story(client: Client<paths>, tools: Tools): Promise<void> {\n",
    );
    for step in story {
        let id = step["operation"].as_str().unwrap();
        let (method, path, operation) = operations
            .get(id)
            .unwrap_or_else(|| panic!("{id} is not an operation"));
        let mut options = Vec::new();
        let places: Vec<String> = ["path", "query", "header"]
            .iter()
            .filter_map(|place| Some(format!("{place}: {}", literal(step.get(*place)?))))
            .collect();
        if !places.is_empty() {
            options.push(format!("params: {{ {} }}", places.join(", ")));
        }
        if let Some(body) = step.get("body") {
            options.push(format!("body: {}", literal(body)));
        }
        if step.get("package").is_some() {
            options.push("body: tools.package".to_owned());
            options.push("bodySerializer: (body: unknown) => body as BodyInit".to_owned());
            options.push("headers: { \"content-type\": \"application/wasm\" }".to_owned());
        }
        let content = &operation["responses"][step["status"].to_string()]["content"];
        if content
            .as_object()
            .is_some_and(|content| !content.contains_key("application/json"))
        {
            options.push("parseAs: \"text\"".to_owned());
        }
        let keep = step.get("keep").cloned().unwrap_or_else(|| Map::new().into());
        let status = &step["status"];
        writeln!(
            program,
            "  tools.done({id:?}, {status}, await client.{method}({path:?}, {{ {} }}), {keep});",
            options.join(", ")
        )
        .unwrap();
    }
    program.push_str("}\n");
    program
}

/// A value as TypeScript; `$name` is what was kept under the name, `$$` is a dollar sign.
fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => match text.strip_prefix('$') {
            Some(rest) if rest.starts_with('$') => Value::from(rest).to_string(),
            Some(name) => format!("tools.kept({name:?})"),
            None => value.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{name:?}: {}", literal(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string(),
    }
}
