//! Facts from the text of a JSON array, however it is written, without a tree of it in between.

use super::{FactsError, fact, one, quick, value_of};
use crate::{Exhausted, Fact, Program, Slot, SlotType, Value};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::fmt;

/// Reads the facts whose names are wanted, each with its place.
pub(crate) fn read_facts(
    text: &str,
    program: &Program,
    most: usize,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<(usize, Fact)>, FactsError> {
    if let Some(facts) = quick::read(text, program, most, is_wanted) {
        return Ok(facts);
    }
    read_any(text, program, most, is_wanted)
}

fn read_any(
    text: &str,
    program: &Program,
    most: usize,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<(usize, Fact)>, FactsError> {
    let mut reading = Reading {
        program,
        most,
        is_wanted,
        facts: Vec::with_capacity(16),
        problem: None,
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = reading.list(&mut json).and_then(|()| json.end());
    match (read, reading.problem) {
        (Ok(()), _) => Ok(reading.facts),
        (Err(_), Some(problem)) => Err(problem),
        (Err(error), None) => {
            let error = error.to_string();
            // The parser has no kinds of errors, only these words; a test holds them.
            Err(match error.contains("recursion limit") {
                true => FactsError::Exhausted(Exhausted::Nesting(PARSER_NESTING)),
                false => FactsError::Refused(format!("the facts are not a JSON array: {error}")),
            })
        }
    }
}

struct Reading<'a> {
    program: &'a Program,
    most: usize,
    is_wanted: &'a dyn Fn(&str) -> bool,
    facts: Vec<(usize, Fact)>,
    /// What is wrong with a fact. An error of the parser would carry a line and a column, which nobody wrote.
    problem: Option<FactsError>,
}

/// How deep serde_json goes.
const PARSER_NESTING: usize = 128;

impl<'a> Reading<'a> {
    fn list<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        struct List<'r, 'a>(&'r mut Reading<'a>);
        impl<'de> Visitor<'de> for List<'_, '_> {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of facts")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
                let mut at = 0;
                while items.next_element_seed(Item { reading: self.0, at })?.is_some() {
                    at += 1;
                    if at > self.0.most {
                        let many = Exhausted::Facts(self.0.most);
                        return self.0.refuse(FactsError::Exhausted(many));
                    }
                }
                Ok(())
            }
        }
        json.deserialize_seq(List(self))
    }

    fn refuse<T, E: Error>(&mut self, problem: impl Into<FactsError>) -> Result<T, E> {
        self.problem = Some(problem.into());
        Err(E::custom(""))
    }

    fn keep<E: Error>(&mut self, at: usize, fact: Result<Fact, impl Into<FactsError>>) -> Result<(), E> {
        match fact {
            Ok(fact) => self.facts.push((at, fact)),
            Err(problem) => return self.refuse(problem.into().at(at)),
        }
        Ok(())
    }

    /// A fact in one of the forms that nobody hurries to write.
    fn keep_any<E: Error>(&mut self, at: usize, item: &Json) -> Result<(), E> {
        let name = item
            .get("template")
            .or_else(|| item.get("name"))
            .and_then(Json::as_str);
        match name {
            Some(name) if !(self.is_wanted)(name) => Ok(()),
            _ => self.keep(at, fact(item, self.program)),
        }
    }
}

/// The fact at a place.
struct Item<'r, 'a> {
    reading: &'r mut Reading<'a>,
    at: usize,
}

impl<'de> DeserializeSeed<'de> for Item<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

const SHAPE: &str = "a fact has a name and fields, or a template and slots";

impl<'de> Visitor<'de> for Item<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fact, which is a text or an object")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.reading.keep_any(self.at, &Json::String(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { reading, at } = self;
        let program = reading.program;
        let is_template = match members.next_key_seed(Text)?.as_deref() {
            Some("template") => true,
            Some("name") => false,
            other => {
                // Slots before their template: rare, and allowed.
                let mut all = Map::new();
                if let Some(key) = other {
                    all.insert(key.to_owned(), members.next_value()?);
                }
                while let Some((key, value)) = members.next_entry::<String, Json>()? {
                    all.insert(key, value);
                }
                return reading.keep_any(at, &Json::Object(all));
            }
        };
        let name = members.next_value_seed(Text)?;
        if !(reading.is_wanted)(&name) {
            while let Some(key) = members.next_key_seed(Text)? {
                if matches!(&*key, "template" | "name") {
                    return reading.refuse(format!("fact {at}: {SHAPE}"));
                }
                members.next_value::<IgnoredAny>()?;
            }
            return Ok(());
        }
        let made = match is_template {
            true => match program.template(&name) {
                None => return reading.refuse(format!("fact {at}: there is no template {name}")),
                Some(template) => {
                    let mut given = Vec::with_capacity(template.slots().len());
                    match members.next_key_seed(Text)?.as_deref() {
                        None => {}
                        Some("slots") => {
                            let mut problem = None;
                            let slots = Slots {
                                slots: template.slots(),
                                given: &mut given,
                                problem: &mut problem,
                            };
                            let read = members.next_value_seed(slots);
                            if let Some(problem) = problem {
                                return reading.refuse(format!("fact {at}: {problem}"));
                            }
                            read?;
                        }
                        Some(_) => return reading.refuse(format!("fact {at}: {SHAPE}")),
                    }
                    Fact::of_places(template, given)
                }
            },
            false => match members.next_key_seed(Text)?.as_deref() {
                None => Ok(Fact::ordered(&name, Vec::new())),
                Some("fields") => {
                    let fields = members.next_value::<Vec<Json>>()?;
                    let fields: Result<Vec<Value>, String> = fields.iter().map(value_of).collect();
                    fields.map(|fields| Fact::ordered(&name, fields))
                }
                Some(_) => return reading.refuse(format!("fact {at}: {SHAPE}")),
            },
        };
        if members.next_key_seed(Text)?.is_some() {
            return reading.refuse(format!("fact {at}: {SHAPE}"));
        }
        reading.keep(at, made)
    }
}

/// A text; copied only where it has escapes.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// The slots of a fact, by their places.
struct Slots<'s> {
    slots: &'s [Slot],
    given: &'s mut Vec<(usize, Value)>,
    problem: &'s mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Slots<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Slots<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of slots")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let wrong = |problem: String, place: &mut Option<String>| {
            *place = Some(problem);
            Err(A::Error::custom(""))
        };
        while let Some(name) = members.next_key_seed(Text)? {
            let found = self
                .slots
                .iter()
                .enumerate()
                .find(|(_, slot)| slot.name() == name);
            let Some((place, slot)) = found else {
                return wrong(format!("the template has no slot {name}"), self.problem);
            };
            if self.given.iter().any(|(other, _)| *other == place) {
                return wrong(format!("slot {name} is given twice"), self.problem);
            }
            match members.next_value_seed(SlotValue(slot))? {
                Ok(value) => self.given.push((place, value)),
                Err(problem) => return wrong(format!("slot {name}: {problem}"), self.problem),
            }
        }
        Ok(())
    }
}

/// The value of a slot, or what is wrong with it.
struct SlotValue<'s>(&'s Slot);

impl<'de> DeserializeSeed<'de> for SlotValue<'_> {
    type Value = Result<Value, String>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl SlotValue<'_> {
    /// One value; the only one of its list in a multislot.
    fn only(&self, value: Value) -> Result<Value, String> {
        Ok(match self.0.is_multislot() {
            true => Value::Multifield([value].into()),
            false => value,
        })
    }

    fn any(&self, json: &Json) -> Result<Value, String> {
        one(self.0, json).and_then(|value| self.only(value))
    }
}

impl<'de> Visitor<'de> for SlotValue<'_> {
    type Value = Result<Value, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value of a slot")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let allowed = self.0.allowed().iter();
        let mut symbols = allowed.filter(|value| matches!(value, Value::Symbol(_)));
        let known = symbols.find(|symbol| symbol.lexeme() == Some(text));
        let value = match (known, self.0.types()) {
            (Some(symbol), _) => symbol.clone(),
            (None, [SlotType::Symbol]) => Value::symbol(text),
            (None, _) => Value::string(text),
        };
        Ok(self.only(value))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        match self.0.types() {
            [SlotType::Float] => Ok(self.any(&number.into())),
            _ => Ok(self.only(Value::Integer(number))),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Ok(self.any(&number.into())),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(self.any(&number.into()))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(self.only(Value::boolean(flag)))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(self.any(&Json::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(item) = items.next_element::<Json>()? {
            values.push(item);
        }
        if !self.0.is_multislot() {
            return Ok(one(self.0, &Json::Array(values)));
        }
        let values: Result<Vec<Value>, String> = values.iter().map(|item| one(self.0, item)).collect();
        Ok(values.map(|values| Value::Multifield(values.into())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = members.next_entry::<String, Json>()? {
            object.insert(key, value);
        }
        Ok(self.any(&Json::Object(object)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let rules = "(deftemplate step (slot id (type INTEGER)) (slot cost (type FLOAT)) (slot kind (allowed-symbols a b))
            (slot any) (multislot tags (type SYMBOL)) (slot must (default ?NONE)))";
        let program = Program::parse(rules).unwrap();
        let facts =
            read_facts(text, &program, 4, &|name| name != "unseen").map_err(|error| error.to_string())?;
        Ok(facts.iter().map(|(at, fact)| format!("{at} {fact}")).collect())
    }

    #[test]
    fn a_fact_reads_the_same_however_it_is_written() {
        // The tree of values is the other way to read them.
        let slots = [
            r#"{"must": 1}"#,
            r#"{"must": 1, "id": 7, "cost": 2, "kind": "b", "any": "b", "tags": ["x", "y"]}"#,
            r#"{"must": null, "id": -7, "cost": 2.5, "any": true, "tags": "x"}"#,
            r#"{"must": {"symbol": "halt"}, "any": 18446744073709551615, "tags": []}"#,
            r#"{"must": "a \"quoted\" text", "any": 0.0}"#,
            r#"{"must": 1, "id": "7"}"#,
            r#"{"must": 1, "id": 7.5}"#,
            r#"{"must": 1, "kind": "c"}"#,
            r#"{"must": 1, "any": [1]}"#,
            r#"{"must": 1, "any": {"x": 1}}"#,
            r#"{"must": 1, "tags": [["x"]]}"#,
            r#"{"must": 1, "tags": [1]}"#,
            r#"{"must": 1, "cost": "2"}"#,
            r#"{"id": 1}"#,
            "{}",
        ];
        for slots in slots {
            let quick = read(&format!(r#"[{{"template": "step", "slots": {slots}}}]"#));
            let slow = read(&format!(r#"[{{"slots": {slots}, "template": "step"}}]"#));
            assert_eq!(quick, slow, "{slots}");
        }
        let fields = r#"[1, "two", true, null, 2.5, {"symbol": "s"}]"#;
        let quick = read(&format!(r#"[{{"name": "n", "fields": {fields}}}]"#));
        assert_eq!(quick, read(&format!(r#"[{{"fields": {fields}, "name": "n"}}]"#)));
        assert_eq!(quick.unwrap(), [r#"0 (n 1 "two" TRUE nil 2.5 s)"#]);
        let found = read(
            r#"["(n 1)", {"name": "unseen", "fields": 7, "x": {}}, {"name": "n"}, {"template": "step", "slots": {"must": 1}}]"#,
        );
        assert_eq!(found.unwrap().len(), 3);
    }

    /// Numbers that look random and are the same at every run.
    struct Dice(u64);

    impl Dice {
        fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            from[usize::try_from(self.0 >> 33).unwrap() % from.len()]
        }

        /// A fact that is sometimes right and sometimes as the host writes it.
        fn fact(&mut self) -> String {
            const VALUES: [&str; 27] = [
                "1",
                "0",
                "-0",
                "-7",
                "01",
                "1.5",
                "1e2",
                "1e999",
                "2E-3",
                "-",
                "999999999999999999",
                "1000000000000000000",
                "9223372036854775808",
                "18446744073709551616",
                r#""b""#,
                r#""x""#,
                r#""longer than eight""#,
                r#""é""#,
                r#""a \" b""#,
                r#""\u00e9\n""#,
                r#""\q""#,
                "\"tab\t\"",
                "true",
                "false",
                "null",
                "[\"x\"]",
                "{}",
            ];
            let mut members: Vec<String> = Vec::new();
            let few = self.pick(&["0", "1", "1", "2"]).parse().unwrap();
            let is_ordered = self.pick(&["ordered", "a", "b", "c"]) == "ordered";
            for _ in 0..few {
                let is_usual = self.pick(&["usual", "usual", "any"]) == "usual";
                let value = self.pick(if is_usual {
                    &["1", "\"x\"", "0.5", "\"a\\n\""]
                } else {
                    &VALUES
                });
                let value = value.to_owned();
                members.push(match is_ordered {
                    true => value,
                    false => {
                        let slot = self.pick(&[
                            "id", "cost", "kind", "any", "tags", "must", "must", "no", r"i\u0064",
                        ]);
                        format!("\"{slot}\":{value}")
                    }
                });
            }
            if !is_ordered {
                // Without it nothing is right.
                members.push(r#""must":1"#.to_owned());
            }
            let comma = self.pick(&[",", ",", ",", ",", " ,", ",,"]);
            let members = members.join(comma);
            let end = self.pick(&["}", "}", "}", "}", " }", ""]);
            match is_ordered {
                true => {
                    let name = self.pick(&["n", "unseen", "n\\n", ""]);
                    format!(r#"{{"name":"{name}","fields":[{members}]{end}"#)
                }
                false => {
                    let name = self.pick(&["step", "step", "step", "unseen", "other"]);
                    format!(r#"{{"template":"{name}","slots":{{{members}}}{end}"#)
                }
            }
        }
    }

    #[test]
    fn the_quick_reader_makes_of_facts_what_the_general_one_makes_of_them() {
        let rules = "(deftemplate step (slot id (type INTEGER)) (slot cost (type FLOAT)) (slot kind (allowed-symbols a b))
            (slot any) (multislot tags (type SYMBOL)) (slot must (default ?NONE)))";
        let program = Program::parse(rules).unwrap();
        let wanted = |name: &str| name != "unseen";
        let (mut dice, mut quickly, mut refused) = (Dice(7), 0, 0);
        for _ in 0..20_000 {
            let count = dice.pick(&["0", "1", "1", "2", "5"]).parse().unwrap();
            let facts: Vec<String> = (0..count).map(|_| dice.fact()).collect();
            let comma = dice.pick(&[",", ",\n", ",", ",", ";"]);
            let end = dice.pick(&["]", "]", "]", " ]\n", "] x", ""]);
            let text = format!("[{}{end}", facts.join(comma));
            let general = read_any(&text, &program, 4, &wanted);
            refused += usize::from(general.is_err());
            if let Some(quick) = quick::read(&text, &program, 4, &wanted) {
                quickly += usize::from(!quick.is_empty());
                assert_eq!(Ok(quick), general, "{text}");
            }
        }
        assert!(quickly > 1_000 && refused > 1_000, "{quickly} {refused}");
        // What the host writes is read quickly, or nothing is gained.
        let text = r#"[{"name":"n","fields":["x",1,true]},{"template":"step","slots":{"id":7,"kind":"b","any":"a \"b\"","must":0.5}}]"#;
        assert_eq!(quick::read(text, &program, 4, &wanted).unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_array_of_facts_is_refused_in_words() {
        for (text, part) in [
            ("{}", "not a JSON array"),
            ("[", "not a JSON array"),
            ("[1]", "a text or an object"),
            ("[] []", "not a JSON array"),
            (r#"["(n"]"#, "fact 0: "),
            (r#"[{"template": "other"}]"#, "fact 0: there is no template other"),
            (
                r#"[{"name": "n", "template": "step"}]"#,
                "fact 0: a fact has a name",
            ),
            (
                r#"[{"name": "unseen", "template": "step"}]"#,
                "fact 0: a fact has a name",
            ),
            (
                r#"[{"template": "step", "slots": {"must": 1}, "fields": []}]"#,
                "fact 0: a fact has a name",
            ),
            (
                r#"[{"template": "step", "fields": []}]"#,
                "fact 0: a fact has a name",
            ),
            (
                r#"[{"template": "step", "slots": {"must": 1, "must": 2}}]"#,
                "given twice",
            ),
            (r#"[{"template": "step", "slots": {"no": 1}}]"#, "no slot no"),
            (
                r#"[{"name": "n", "fields": [[1]]}]"#,
                "fact 0: a list is no value",
            ),
            (
                r#"["(n)", "(n)", "(n)", "(n)", "(n)"]"#,
                "more than the budget of 4",
            ),
            (
                &format!(r#"[{{"name": "n", "fields": {}"#, "[".repeat(4_096)),
                "deeper than the budget of 128",
            ),
            (
                &format!(r#"["(n {}"]"#, "(".repeat(4_000)),
                "deeper than the budget of 32",
            ),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
