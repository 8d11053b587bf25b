//! The form of declared types as data, for the generator.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A type that has a form in a spec's JSON.
pub trait Form {
    /// The type; it and what it is made of go to `found`, those that it uses first.
    fn form(found: &mut Forms) -> Type;
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// A whole number below 2^32.
    U32,
    /// A whole number below 2^64.
    U64,
    /// A number.
    F64,
    /// True or false.
    Bool,
    /// A text.
    Text,
    /// A value or none.
    Optional(Box<Type>),
    /// A list.
    List(Box<Type>),
    /// An item of [`Forms`].
    Named(String),
}

/// Declared types by the order in which they may be written down.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Forms {
    items: Vec<Item>,
}

/// A declared type.
#[derive(Debug, Serialize)]
pub struct Item {
    /// Its name in Rust.
    pub name: String,
    /// Its documentation.
    pub doc: String,
    /// Contents of its `#[rule(...)]`.
    pub facts: BTreeMap<String, Value>,
    /// Structure of the type.
    pub shape: Shape,
}

/// The structure of a declared type.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Fields.
    Fields(Vec<Field>),
    /// One of some words, each with its documentation.
    Words(Vec<Word>),
    /// One of some tables, told apart by their `kind`.
    Kinds(Vec<Kind>),
}

/// One of some words.
#[derive(Debug, Serialize)]
pub struct Word {
    /// As the form has it.
    pub word: String,
    /// As a file has it, where that is another.
    pub written: Option<String>,
    /// Its documentation.
    pub doc: String,
}

/// One of several tables.
#[derive(Debug, Serialize)]
pub struct Kind {
    /// Its `kind`.
    pub kind: String,
    /// Its name in Rust.
    pub variant: String,
    /// Its documentation.
    pub doc: String,
    /// Its fields, where it has its own.
    pub fields: Vec<Field>,
    /// The type of which it has the fields otherwise.
    pub of: Option<Type>,
}

/// A field of a table.
#[derive(Debug, Serialize)]
pub struct Field {
    /// Its key in the JSON form.
    pub name: String,
    /// Its documentation.
    pub doc: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The only value that it may have.
    pub fixed: Option<Value>,
    /// True if the form leaves out the key at the default.
    pub is_left_out: bool,
    /// Its type's default, where it can be left out.
    pub default: Value,
    /// How it is written by people; none for one that is no parameter of a rule.
    pub param: Option<Param>,
}

/// A parameter of a rule.
#[derive(Debug, Default, Serialize)]
pub struct Param {
    /// Its key in a scenario file; none for one that follows from others.
    pub key: Option<String>,
    /// The name of its type in [`crate::types`]; none for one whose own parameters stand for it.
    #[serde(rename = "type")]
    pub ty: Option<String>,
    /// True if it is a list of values of the type.
    pub is_list: bool,
    /// True if the type is a separate table.
    pub is_table: bool,
    /// True if such a list ascends.
    pub is_ascending: bool,
    /// The default as it would stand in a file; none if the file has to say it.
    pub default: Option<Value>,
    /// True if it can be left out without a default.
    pub is_optional: bool,
    /// The letter that the sources use.
    pub symbol: Option<String>,
    /// Where the default stands, or why it was chosen.
    pub source: Option<String>,
    /// Required relation to another field.
    pub relation: Option<Relation>,
    /// Condition for an effect; none if it always has one.
    pub when: Option<When>,
}

/// A condition on another key of a table, without which a parameter of that table has no effect.
#[derive(Debug, Serialize)]
pub struct When {
    /// The other key in a scenario file.
    pub key: String,
    /// One of these, as files have them; if there are none, it must not be given.
    pub values: Vec<Value>,
}

/// Below another field of the rule, or at most that.
#[derive(Debug, Serialize)]
pub struct Relation {
    /// The other field.
    pub field: String,
    /// True if it may equal that field.
    pub may_equal: bool,
}

impl Forms {
    /// Adds a type that has a name, once.
    pub fn named(
        &mut self,
        name: &str,
        doc: &str,
        facts: &[(&str, Value)],
        shape: impl FnOnce(&mut Forms) -> Shape,
    ) -> Type {
        if !self.items.iter().any(|item| item.name == name) {
            let shape = shape(self);
            let facts = facts
                .iter()
                .map(|(key, fact)| ((*key).to_owned(), fact.clone()));
            self.items.push(Item {
                name: name.to_owned(),
                doc: doc.to_owned(),
                facts: facts.collect(),
                shape,
            });
        }
        Type::Named(name.to_owned())
    }

    /// The declared types, those that others use first.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The type of this name.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.name == name)
    }
}

macro_rules! plain {
    ($($rust:ty => $form:ident),*) => {
        $(impl Form for $rust {
            fn form(_: &mut Forms) -> Type {
                Type::$form
            }
        })*
    };
}

plain!(u32 => U32, u64 => U64, f64 => F64, bool => Bool, String => Text);

impl<T: Form> Form for Option<T> {
    fn form(found: &mut Forms) -> Type {
        Type::Optional(Box::new(T::form(found)))
    }
}

impl<T: Form> Form for Vec<T> {
    fn form(found: &mut Forms) -> Type {
        Type::List(Box::new(T::form(found)))
    }
}
