//! Text for people.

use super::{Event, Form, Json, Order, Walk};

impl Json {
    /// Text with two spaces of indentation, members in insertion order, without a newline at the end.
    pub fn to_pretty(&self) -> String {
        let mut out = String::new();
        let mut closers: Vec<char> = Vec::new();
        // What precedes the next event: nothing after a key, a line break otherwise.
        let mut first = true;
        let mut after_key = true;
        for event in Walk::new(self, Order::Insertion) {
            if matches!(event, Event::End) {
                let closer = closers.pop();
                if !first {
                    new_line(&mut out, closers.len());
                }
                out.extend(closer);
            } else {
                if !after_key {
                    if !first {
                        out.push(',');
                    }
                    new_line(&mut out, closers.len());
                }
                match event {
                    Event::BeginArray(_) => {
                        out.push('[');
                        closers.push(']');
                    }
                    Event::BeginObject(_) => {
                        out.push('{');
                        closers.push('}');
                    }
                    Event::Key(key) => {
                        super::write_string(key, Form::Compact, &mut out);
                        out.push_str(": ");
                    }
                    Event::Scalar(scalar) => scalar.write(Form::Compact, &mut out),
                    Event::End => {}
                }
            }
            after_key = matches!(event, Event::Key(_));
            first = matches!(event, Event::BeginArray(_) | Event::BeginObject(_));
        }
        out
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_text_is_indented_and_means_the_same() {
        let check = |text: &str, expected: &str| {
            let value = Json::parse(text).unwrap();
            assert_eq!(value.to_pretty(), expected);
            assert_eq!(Json::parse(&value.to_pretty()).unwrap(), value);
        };
        check("1", "1");
        check("[]", "[]");
        check("{\"b\":[],\"a\":{}}", "{\n  \"b\": [],\n  \"a\": {}\n}");
        check(
            "[1,{\"a\":[2,3]}]",
            "[\n  1,\n  {\n    \"a\": [\n      2,\n      3\n    ]\n  }\n]",
        );
    }
}
