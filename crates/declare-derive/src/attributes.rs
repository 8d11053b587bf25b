//! Parser of the attributes of types and fields.

use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Error, Expr, Field, GenericArgument, Ident, Lit, LitStr, Meta, Path, PathArguments,
    Result, Token, Type, punctuated::Punctuated,
};

/// The contents of a field's `#[param(...)]`.
#[derive(Default)]
pub(crate) struct Attributes {
    key: Option<String>,
    is_unwritten: bool,
    is_optional: bool,
    is_empty: bool,
    pub(crate) is_ascending: bool,
    pub(crate) is_word: bool,
    pub(crate) is_kinds: bool,
    pub(crate) is_table: bool,
    default: Option<Expr>,
    symbol: Option<String>,
    source: Option<Expr>,
    /// The other field, and whether this one may equal it.
    pub(crate) relation: Option<(String, bool)>,
    pub(crate) check: Option<Path>,
    pub(crate) is_parts: bool,
    /// The other key, and what it has to be, one of these.
    when: Option<(String, Vec<Lit>)>,
    without: Option<String>,
}

impl Attributes {
    /// None for a field that is no parameter.
    pub(crate) fn of(field: &Field) -> Result<Option<Self>> {
        let Some(attribute) = field.attrs.iter().find(|a| a.path().is_ident("param")) else {
            return Ok(None);
        };
        let mut found = Attributes::default();
        if matches!(attribute.meta, Meta::Path(_)) {
            return Ok(Some(found));
        }
        attribute.parse_nested_meta(|meta| {
            let word = meta.path.require_ident()?.to_string();
            let text = || Ok::<_, Error>(meta.value()?.parse::<LitStr>()?.value());
            match word.as_str() {
                "unwritten" => found.is_unwritten = true,
                "optional" => found.is_optional = true,
                "word" => found.is_word = true,
                "kinds" => found.is_kinds = true,
                "table" => found.is_table = true,
                "ascending" => found.is_ascending = true,
                "empty" => found.is_empty = true,
                "parts" => found.is_parts = true,
                "key" => found.key = Some(text()?),
                "symbol" => found.symbol = Some(text()?),
                "below" => found.relation = Some((text()?, false)),
                "at_most" => found.relation = Some((text()?, true)),
                "default" => found.default = Some(meta.value()?.parse()?),
                "source" => found.source = Some(meta.value()?.parse()?),
                "without" => found.without = Some(text()?),
                "when" => {
                    meta.parse_nested_meta(|other| {
                        let key = other.path.require_ident()?.to_string();
                        let values;
                        let given = other.value()?;
                        syn::bracketed!(values in given);
                        let values = Punctuated::<Lit, Token![,]>::parse_terminated(&values)?;
                        found.when = Some((key, values.into_iter().collect()));
                        Ok(())
                    })?;
                }
                "check" => found.check = Some(meta.value()?.parse()?),
                _ => return Err(meta.error("a parameter has no such property")),
            }
            Ok(())
        })?;
        Ok(Some(found))
    }

    /// A `Some(Param { ... })`.
    pub(crate) fn as_data(&self, field: &Field) -> Tokens {
        let text = |value: Option<Tokens>| match value {
            Some(value) => quote!(Some((#value).to_owned())),
            None => quote!(None),
        };
        let key = match (self.is_unwritten || self.is_parts, &self.key) {
            (true, _) => None,
            (false, Some(key)) => Some(key.clone()),
            (false, None) => Some(json_name(field)),
        };
        let key = text(key.map(|key| quote!(#key)));
        let ty = match self.is_parts {
            true => quote!(None),
            false => {
                let ty = last_of(item_of(&field.ty).unwrap_or(value_of(&field.ty)));
                let ty = ty.map(|ty| ty.to_string()).unwrap_or_default();
                quote!(Some(#ty.to_owned()))
            }
        };
        let default = match &self.default {
            Some(value) => quote!(Some(::skycell_declare::serde_json::json!(#value))),
            None if self.is_empty => quote!(Some(::skycell_declare::serde_json::json!({}))),
            None => quote!(None),
        };
        let symbol = text(self.symbol.as_ref().map(ToTokens::to_token_stream));
        let source = text(self.source.as_ref().map(ToTokens::to_token_stream));
        let is_optional = self.is_optional;
        let (is_list, is_ascending) = (item_of(&field.ty).is_some(), self.is_ascending);
        let is_table = self.is_table;
        let relation = match &self.relation {
            Some((other, may_equal)) => quote!(Some(::skycell_declare::Relation {
                field: #other.to_owned(),
                may_equal: #may_equal,
            })),
            None => quote!(None),
        };
        let when = match (&self.when, &self.without) {
            (Some((key, values)), _) => quote!(Some(::skycell_declare::When {
                key: #key.to_owned(),
                values: vec![#(::skycell_declare::serde_json::json!(#values)),*],
            })),
            (None, Some(key)) => quote!(Some(::skycell_declare::When {
                key: #key.to_owned(),
                values: vec![],
            })),
            (None, None) => quote!(None),
        };
        quote!(Some(::skycell_declare::Param {
            key: #key,
            ty: #ty,
            is_list: #is_list,
            is_table: #is_table,
            is_ascending: #is_ascending,
            default: #default,
            is_optional: #is_optional,
            symbol: #symbol,
            source: #source,
            relation: #relation,
            when: #when,
        }))
    }
}

/// The word that files have for a variant, as `#[written(...)]` says.
pub(crate) fn written_as(attributes: &[Attribute]) -> Result<Option<LitStr>> {
    let written = attributes.iter().find(|a| a.path().is_ident("written"));
    written.map(Attribute::parse_args).transpose()
}

/// The only value of a field, as `#[fixed(...)]` says.
pub(crate) fn fixed_at(field: &Field) -> Result<Option<Expr>> {
    let fixed = field.attrs.iter().find(|a| a.path().is_ident("fixed"));
    fixed.map(Attribute::parse_args).transpose()
}

/// Returns whether a field has an attribute.
pub(crate) fn has(field: &Field, name: &str) -> bool {
    field.attrs.iter().any(|a| a.path().is_ident(name))
}

/// Returns the contents of a type's `#[rule(...)]`; none if there is no such attribute.
pub(crate) fn facts_of(attributes: &[Attribute]) -> Result<Option<Vec<(String, Expr)>>> {
    let Some(attribute) = attributes.iter().find(|a| a.path().is_ident("rule")) else {
        return Ok(None);
    };
    let mut facts = Vec::new();
    if matches!(attribute.meta, Meta::Path(_)) {
        return Ok(Some(facts));
    }
    attribute.parse_nested_meta(|meta| {
        let fact = meta.path.require_ident()?.to_string();
        facts.push((fact, meta.value()?.parse()?));
        Ok(())
    })?;
    Ok(Some(facts))
}

/// The documentation, its lines as they stand.
pub(crate) fn doc_of(attributes: &[Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Str(text) => Some(text.value().trim().to_owned()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns whether serde leaves the field out at its type's default.
pub(crate) fn is_left_out(field: &Field) -> bool {
    serde_says(&field.attrs, "skip_serializing_if")
}

/// Returns whether serde neither reads nor writes the field, so that it is no part of the form.
pub(crate) fn is_skipped(field: &Field) -> bool {
    serde_says(&field.attrs, "skip")
}

/// Returns whether serde distinguishes variants by a key beside their own.
pub(crate) fn is_tagged(attributes: &[Attribute]) -> bool {
    serde_says(attributes, "tag")
}

fn serde_says(attributes: &[Attribute], what: &str) -> bool {
    attributes
        .iter()
        .filter(|a| a.path().is_ident("serde"))
        .any(|attribute| {
            let mut says = false;
            // What is not understood here is serde's to refuse.
            _ = attribute.parse_nested_meta(|meta| {
                says |= meta.path.is_ident(what);
                if meta.input.peek(syn::Token![=]) {
                    meta.value()?.parse::<Expr>()?;
                }
                Ok(())
            });
            says
        })
}

/// The key of a field in the JSON form.
pub(crate) fn json_name(field: &Field) -> String {
    let name = field.ident.as_ref().expect("fields have names").to_string();
    name.trim_start_matches("r#").to_owned()
}

/// As serde has it: a letter that is not the first and is a capital begins a word.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (i, letter) in name.char_indices() {
        if i > 0 && letter.is_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// The type of a list's items; none for what is no list.
pub(crate) fn item_of(ty: &Type) -> Option<&Type> {
    argument_of(ty, "Vec")
}

/// The type of a value that may be missing, or the type itself.
pub(crate) fn value_of(ty: &Type) -> &Type {
    argument_of(ty, "Option").unwrap_or(ty)
}

fn argument_of<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path
        .path
        .segments
        .last()
        .filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(of) = &last.arguments else {
        return None;
    };
    match of.args.first() {
        Some(GenericArgument::Type(item)) => Some(item),
        _ => None,
    }
}

/// The name of a type without what leads to it.
pub(crate) fn last_of(ty: &Type) -> Result<Ident> {
    match ty {
        Type::Path(path)
            if path
                .path
                .segments
                .last()
                .is_some_and(|s| s.arguments.is_empty()) =>
        {
            Ok(path.path.segments.last().expect("just seen").ident.clone())
        }
        _ => Err(Error::new_spanned(
            ty,
            "a parameter has a type of skycell_declare::types",
        )),
    }
}
