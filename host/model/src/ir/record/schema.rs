//! JSON Schema 2020-12 from the declarations.

use super::{Value, Writer};
use mizzen_json::{Form, Json, Object};

/// Collects the definitions of the records that a schema refers to.
#[derive(Debug, Default)]
pub struct SchemaBook {
    definitions: Object,
}

impl SchemaBook {
    /// The schema document whose root is the record `T`.
    pub fn document<T: Value>(identifier: &str, title: &str) -> Json {
        let mut book = SchemaBook::default();
        let root = T::schema(&mut book);
        let mut document = Object::new();
        document.insert("$schema", "https://json-schema.org/draft/2020-12/schema".into());
        document.insert("$id", identifier.into());
        document.insert("title", title.into());
        if let Json::Object(root) = &root {
            for (key, value) in root.iter() {
                document.insert(key, value.clone());
            }
        }
        document.insert("$defs", Json::Object(book.definitions));
        Json::Object(document)
    }

    /// A schema of one type.
    pub fn typed(name: &str) -> Json {
        object([("type", name.into())])
    }

    /// `null`, or what `inner` allows.
    pub fn nullable(inner: Json) -> Json {
        object([("anyOf", Json::from(vec![inner, SchemaBook::typed("null")]))])
    }

    /// An array of `inner`.
    pub fn array_of(inner: Json) -> Json {
        object([("type", "array".into()), ("items", inner)])
    }

    /// An object whose members are all `inner`.
    pub fn map_of(inner: Json) -> Json {
        object([("type", "object".into()), ("additionalProperties", inner)])
    }

    /// One of these strings.
    pub fn one_of(values: &[&str]) -> Json {
        object([(
            "enum",
            values
                .iter()
                .map(|value| Json::from(*value))
                .collect::<Vec<_>>()
                .into(),
        )])
    }

    /// Exactly one of the tagged records.
    pub fn union(members: Vec<Json>) -> Json {
        object([("oneOf", members.into())])
    }

    /// Defines a record once and refers to it.
    pub fn record(&mut self, name: &str, doc: &str, declare: impl FnOnce(&mut FieldList<'_>)) -> Json {
        if !self.definitions.contains_key(name) {
            // Holds the place, so that definitions stay in the order of first use.
            self.definitions.insert(name, Json::Null);
            let mut list = FieldList {
                book: self,
                properties: Object::new(),
                required: Vec::new(),
            };
            declare(&mut list);
            let FieldList {
                properties, required, ..
            } = list;
            let mut schema = Object::new();
            schema.insert("type", "object".into());
            schema.insert("description", doc.trim().into());
            schema.insert("properties", Json::Object(properties));
            if !required.is_empty() {
                schema.insert("required", required.into());
            }
            schema.insert("additionalProperties", Json::Bool(false));
            self.definitions.insert(name, Json::Object(schema));
        }
        object([("$ref", format!("#/$defs/{name}").into())])
    }
}

/// The fields of one record while it is being described.
#[derive(Debug)]
pub struct FieldList<'b> {
    book: &'b mut SchemaBook,
    properties: Object,
    required: Vec<Json>,
}

impl FieldList<'_> {
    /// The discriminator of a tagged record.
    pub fn kind(&mut self, tag: &str) {
        self.properties.insert("kind", object([("const", tag.into())]));
        self.required.push("kind".into());
    }

    /// A field; without a default it is required.
    pub fn field<T: Value>(&mut self, name: &str, doc: &str, default: Option<T>) {
        let inner = T::schema(self.book);
        let mut schema = Object::new();
        schema.insert("description", doc.trim().into());
        if let Json::Object(inner) = &inner {
            for (key, value) in inner.iter() {
                schema.insert(key, value.clone());
            }
        }
        match default {
            Some(default) => {
                let mut writer = Writer::new(Form::Compact);
                default.emit(&mut writer);
                if let Ok(default) = Json::parse(&writer.finish()) {
                    schema.insert("default", default);
                }
            }
            None => self.required.push(name.into()),
        }
        self.properties.insert(name, Json::Object(schema));
    }
}

pub(crate) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// A duration on the wire.
pub(crate) fn duration_schema() -> Json {
    let text = object([
        ("type", "string".into()),
        (
            "pattern",
            "^[+-]?(P(?=.)([0-9]+([.,][0-9]*)?[YMWD])*(T([0-9]+([.,][0-9]*)?[HMS])*)?|[0-9]+:[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?|[0-9]+ ?[dD]([aA][yY][sS]?)?,? ?([0-9]+:[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?)?)$"
                .into(),
        ),
    ]);
    let seconds = object([
        ("type", "number".into()),
        ("minimum", Json::from(-86_399_999_913_600)),
        ("exclusiveMaximum", Json::from(86_400_000_000_000)),
    ]);
    object([("anyOf", vec![text, seconds].into())])
}

/// A decimal on the wire.
pub(crate) fn decimal_schema() -> Json {
    let text = object([
        ("type", "string".into()),
        (
            "pattern",
            "^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]{1,6})?$".into(),
        ),
        ("maxLength", Json::from(1_010)),
    ]);
    object([("anyOf", vec![text, SchemaBook::typed("number")].into())])
}
