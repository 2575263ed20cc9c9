//! Keywords that apply schemas: to the fields and items of a value, or to the value itself.

use super::checker::{Checker, Place, bad_schema};
use crate::pointer;
use mizzen_sdk::{Map, ToolError, Value};

type Keywords<'a> = &'a Map<String, Value>;

pub(super) fn check<'a>(
    checker: &mut Checker<'a>,
    keywords: Keywords<'a>,
    place: Place<'_>,
) -> Result<(), ToolError> {
    match place.value {
        Value::Object(fields) => object(checker, keywords, fields, place)?,
        Value::Array(items) => array(checker, keywords, items, place)?,
        _ => {}
    }
    combined(checker, keywords, place)
}

fn object<'a>(
    checker: &mut Checker<'a>,
    keywords: Keywords<'a>,
    fields: &Map<String, Value>,
    place: Place<'_>,
) -> Result<(), ToolError> {
    let properties = table(keywords, "properties", place)?;
    let patterns = table(keywords, "patternProperties", place)?;
    let dependent = table(keywords, "dependentSchemas", place)?;
    for (name, value) in fields {
        let path = pointer::field(place.path, name);
        let mut known = false;
        if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
            known = true;
            let schema_path = pointer::field(&pointer::field(place.schema_path, "properties"), name);
            checker.check(
                schema,
                Place {
                    value,
                    path: &path,
                    schema_path: &schema_path,
                },
            )?;
        }
        for (pattern, schema) in patterns.into_iter().flatten() {
            let schema_path =
                pointer::field(&pointer::field(place.schema_path, "patternProperties"), pattern);
            if checker.matches(pattern, name, &schema_path)? {
                known = true;
                checker.check(
                    schema,
                    Place {
                        value,
                        path: &path,
                        schema_path: &schema_path,
                    },
                )?;
            }
        }
        if let (false, Some(schema)) = (known, keywords.get("additionalProperties")) {
            let schema_path = pointer::field(place.schema_path, "additionalProperties");
            checker.check(
                schema,
                Place {
                    value,
                    path: &path,
                    schema_path: &schema_path,
                },
            )?;
        }
        if let Some(schema) = keywords.get("propertyNames") {
            let schema_path = pointer::field(place.schema_path, "propertyNames");
            checker.check(
                schema,
                Place {
                    value: &Value::from(name.as_str()),
                    path: &path,
                    schema_path: &schema_path,
                },
            )?;
        }
    }
    for (name, schema) in dependent
        .into_iter()
        .flatten()
        .filter(|(name, _)| fields.contains_key(*name))
    {
        let schema_path = pointer::field(&pointer::field(place.schema_path, "dependentSchemas"), name);
        checker.check(
            schema,
            Place {
                schema_path: &schema_path,
                ..place
            },
        )?;
    }
    Ok(())
}

fn array<'a>(
    checker: &mut Checker<'a>,
    keywords: Keywords<'a>,
    items: &[Value],
    place: Place<'_>,
) -> Result<(), ToolError> {
    let first = list(keywords, "prefixItems", place)?.unwrap_or_default();
    for (index, (value, schema)) in items.iter().zip(first).enumerate() {
        let path = pointer::item(place.path, index);
        let schema_path = pointer::item(&pointer::field(place.schema_path, "prefixItems"), index);
        checker.check(
            schema,
            Place {
                value,
                path: &path,
                schema_path: &schema_path,
            },
        )?;
    }
    if let Some(schema) = keywords.get("items") {
        let schema_path = pointer::field(place.schema_path, "items");
        for (index, value) in items.iter().enumerate().skip(first.len()) {
            let path = pointer::item(place.path, index);
            checker.check(
                schema,
                Place {
                    value,
                    path: &path,
                    schema_path: &schema_path,
                },
            )?;
        }
    }
    if let Some(schema) = keywords.get("contains") {
        contains(checker, keywords, schema, items, place)?;
    }
    Ok(())
}

fn contains<'a>(
    checker: &mut Checker<'a>,
    keywords: Keywords<'a>,
    schema: &'a Value,
    items: &[Value],
    place: Place<'_>,
) -> Result<(), ToolError> {
    let schema_path = pointer::field(place.schema_path, "contains");
    let mut found: u64 = 0;
    for value in items {
        found += u64::from(checker.accepts(
            schema,
            Place {
                value,
                schema_path: &schema_path,
                ..place
            },
        )?);
    }
    let stated = |keyword: &str| match keywords.get(keyword) {
        None => Ok(None),
        Some(number) => {
            let bad = || {
                bad_schema(
                    &pointer::field(place.schema_path, keyword),
                    "expected a whole number, 0 or more",
                )
            };
            number.as_u64().map(Some).ok_or_else(bad)
        }
    };
    let least = stated("minContains")?.unwrap_or(1);
    if found < least {
        checker.report(place.problem(
            "contains",
            format!("{found} items fit, expected at least {least}"),
        ));
    }
    if let Some(most) = stated("maxContains")?.filter(|most| found > *most) {
        checker.report(place.problem("contains", format!("{found} items fit, expected at most {most}")));
    }
    Ok(())
}

fn combined<'a>(
    checker: &mut Checker<'a>,
    keywords: Keywords<'a>,
    place: Place<'_>,
) -> Result<(), ToolError> {
    for (index, schema) in list(keywords, "allOf", place)?.into_iter().flatten().enumerate() {
        let schema_path = pointer::item(&pointer::field(place.schema_path, "allOf"), index);
        checker.check(
            schema,
            Place {
                schema_path: &schema_path,
                ..place
            },
        )?;
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(schemas) = list(keywords, keyword, place)? else {
            continue;
        };
        let mut fitting = 0;
        for (index, schema) in schemas.iter().enumerate() {
            let schema_path = pointer::item(&pointer::field(place.schema_path, keyword), index);
            fitting += u32::from(checker.accepts(
                schema,
                Place {
                    schema_path: &schema_path,
                    ..place
                },
            )?);
            if keyword == "anyOf" && fitting > 0 {
                break;
            }
        }
        if fitting == 0 {
            checker.report(place.problem(keyword, format!("fits none of the {} schemas", schemas.len())));
        } else if keyword == "oneOf" && fitting > 1 {
            checker.report(place.problem(
                keyword,
                format!("fits {fitting} of the schemas, expected exactly one"),
            ));
        }
    }
    if let Some(schema) = keywords.get("not") {
        let schema_path = pointer::field(place.schema_path, "not");
        if checker.accepts(
            schema,
            Place {
                schema_path: &schema_path,
                ..place
            },
        )? {
            checker.report(place.problem("not", "fits a schema that it must not fit"));
        }
    }
    if let Some(condition) = keywords.get("if") {
        let schema_path = pointer::field(place.schema_path, "if");
        let branch = if checker.accepts(
            condition,
            Place {
                schema_path: &schema_path,
                ..place
            },
        )? {
            "then"
        } else {
            "else"
        };
        if let Some(schema) = keywords.get(branch) {
            let schema_path = pointer::field(place.schema_path, branch);
            checker.check(
                schema,
                Place {
                    schema_path: &schema_path,
                    ..place
                },
            )?;
        }
    }
    Ok(())
}

fn table<'a>(
    keywords: Keywords<'a>,
    keyword: &str,
    place: Place<'_>,
) -> Result<Option<Keywords<'a>>, ToolError> {
    let bad = || {
        bad_schema(
            &pointer::field(place.schema_path, keyword),
            "expected an object of schemas",
        )
    };
    keywords
        .get(keyword)
        .map(|value| value.as_object().ok_or_else(bad))
        .transpose()
}

fn list<'a>(
    keywords: Keywords<'a>,
    keyword: &str,
    place: Place<'_>,
) -> Result<Option<&'a [Value]>, ToolError> {
    let bad = || {
        bad_schema(
            &pointer::field(place.schema_path, keyword),
            "expected a list of schemas",
        )
    };
    keywords
        .get(keyword)
        .map(|value| value.as_array().map(Vec::as_slice).ok_or_else(bad))
        .transpose()
}
