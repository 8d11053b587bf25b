//! `#[derive(Declare)]`: the form of a type, and of a rule with parameters the check of their ranges.
//!
//! On a type, `#[rule(fact = value, ...)]` says what tables and pages tell of a rule; it makes a rule
//! of a type without parameters. On a field, `#[param(...)]` makes it a parameter:
//!
//! * `key = "..."`: its key in a scenario file, where that is not the field's name; `unwritten` for one
//!   that follows from the rest of the scenario;
//! * `default = ...`, `empty` for a table with nothing in it by default, `optional`, `symbol = "..."`, `source = ...`;
//! * `ascending`: a list, whose field is a `Vec` of a type, that has at least one value and ascends;
//! * `below = "field"`, `at_most = "field"`: what it must be compared with another field;
//! * `when(key = ["word", ...])` or `when(flag = [true])`, `without = "key"`: what another key of the table has to be, or that it must not be
//!   given, for the parameter to have an effect; a file that says one without effect is faulty;
//! * `check = path`: refuses values of a type that only this rule has;
//! * `parts`: the field is a table whose parameters are the rule's own;
//! * `table`: a table, or a list of tables, with the parameters of its type;
//! * `word`: one of the words of an enum, whose variants may say `#[written("...")]`;
//! * `kinds`: one of the rules of an enum, by its kind, or as a table with the parameters of that.
//!
//! `#[fixed(value)]` says that a field has one value, such as a version.

mod attributes;

use attributes::{
    Attributes, doc_of, facts_of, fixed_at, is_left_out, is_skipped, json_name, snake_case,
};
use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, FieldsNamed, Result, Type, parse_macro_input};

/// See the crate.
#[proc_macro_derive(Declare, attributes(rule, param, fixed, written))]
pub fn declare(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derive(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

fn derive(input: &DeriveInput) -> Result<Tokens> {
    let name = &input.ident;
    let (text, doc) = (name.to_string(), doc_of(&input.attrs));
    let facts = facts_of(&input.attrs)?;
    let mut rule = Tokens::new();
    let shape = match &input.data {
        Data::Struct(data) => {
            let Fields::Named(fields) = &data.fields else {
                return Err(Error::new_spanned(
                    name,
                    "a declared struct has named fields",
                ));
            };
            if facts.is_some()
                || fields
                    .named
                    .iter()
                    .any(|field| attributes::has(field, "param"))
            {
                rule = check_of(name, fields)?;
            }
            let fields = fields_of(fields)?;
            quote!(::skycell_declare::Shape::Fields(#fields))
        }
        Data::Enum(data)
            if data
                .variants
                .iter()
                .all(|v| matches!(v.fields, Fields::Unit))
                && !attributes::is_tagged(&input.attrs) =>
        {
            let words = data.variants.iter().map(|variant| {
                let (word, doc) = (
                    snake_case(&variant.ident.to_string()),
                    doc_of(&variant.attrs),
                );
                let written = match attributes::written_as(&variant.attrs)? {
                    Some(text) => quote!(Some(#text.to_owned())),
                    None => quote!(None),
                };
                Ok(quote!(::skycell_declare::Word {
                    word: #word.to_owned(),
                    written: #written,
                    doc: #doc.to_owned(),
                }))
            });
            let words = words.collect::<Result<Vec<_>>>()?;
            quote!(::skycell_declare::Shape::Words(vec![#(#words),*]))
        }
        Data::Enum(data) => {
            let kinds = data.variants.iter().map(|variant| {
                let text = variant.ident.to_string();
                let (kind, doc) = (snake_case(&text), doc_of(&variant.attrs));
                let (fields, of) = match &variant.fields {
                    Fields::Unit => (quote!(vec![]), quote!(None)),
                    Fields::Named(fields) => (fields_of(fields)?, quote!(None)),
                    Fields::Unnamed(inner) => {
                        let inner = &inner.unnamed[0].ty;
                        let form = form_of(inner);
                        (quote!(vec![]), quote!(Some(#form)))
                    }
                };
                Ok(quote!(::skycell_declare::Kind {
                    kind: #kind.to_owned(),
                    variant: #text.to_owned(),
                    doc: #doc.to_owned(),
                    fields: #fields,
                    of: #of,
                }))
            });
            let kinds = kinds.collect::<Result<Vec<_>>>()?;
            quote!(::skycell_declare::Shape::Kinds(vec![#(#kinds),*]))
        }
        Data::Union(_) => return Err(Error::new_spanned(name, "a union has no form")),
    };
    let facts = facts.unwrap_or_default();
    let facts = facts
        .iter()
        .map(|(key, value)| quote!((#key, ::skycell_declare::serde_json::Value::from(#value))));
    Ok(quote! {
        impl ::skycell_declare::Form for #name {
            fn form(found: &mut ::skycell_declare::Forms) -> ::skycell_declare::Type {
                found.named(#text, #doc, &[#(#facts),*], |found| {
                    _ = &found;
                    #shape
                })
            }
        }
        #rule
    })
}

fn form_of(ty: &Type) -> Tokens {
    quote!(<#ty as ::skycell_declare::Form>::form(found))
}

/// The fields as data.
fn fields_of(fields: &FieldsNamed) -> Result<Tokens> {
    let written = fields.named.iter().filter(|field| !is_skipped(field));
    let fields = written.map(|field| {
        let (name, doc) = (json_name(field), doc_of(&field.attrs));
        let (ty, form) = (&field.ty, form_of(&field.ty));
        let is_left_out = is_left_out(field);
        let default = match is_left_out {
            true => quote!(::skycell_declare::serde_json::json!(<#ty>::default())),
            false => quote!(::skycell_declare::serde_json::Value::Null),
        };
        let fixed = match fixed_at(field)? {
            Some(value) => quote!(Some(::skycell_declare::serde_json::json!(#value))),
            None => quote!(None),
        };
        let param = match Attributes::of(field)? {
            Some(param) => param.as_data(field),
            None => quote!(None),
        };
        Ok(quote!(::skycell_declare::Field {
            name: #name.to_owned(),
            doc: #doc.to_owned(),
            ty: #form,
            fixed: #fixed,
            is_left_out: #is_left_out,
            default: #default,
            param: #param,
        }))
    });
    let fields = fields.collect::<Result<Vec<_>>>()?;
    Ok(quote!(vec![#(#fields),*]))
}

/// A rule's own check: each parameter in the range of its type, then those that are compared.
fn check_of(name: &syn::Ident, fields: &FieldsNamed) -> Result<Tokens> {
    let (mut ranges, mut orders) = (Vec::new(), Vec::new());
    for field in &fields.named {
        let Some(param) = Attributes::of(field)? else {
            let message = "a field of a rule is a parameter, if an unwritten one";
            return Err(Error::new_spanned(field, message));
        };
        let own = field.ident.as_ref().expect("fields have names");
        let text = json_name(field);
        if param.is_word {
            continue; // its type has no other values
        }
        let is_list = attributes::item_of(&field.ty).is_some();
        ranges.push(if param.is_table && is_list {
            quote!(for (i, one) in self.#own.iter().enumerate() {
                ::skycell_declare::Rule::check(one, context)
                    .map_err(|at| at.within(&format!("{}[{i}]", #text)))?;
            })
        } else if param.is_parts || param.is_kinds || param.is_table {
            quote!(::skycell_declare::Rule::check(&self.#own, context).map_err(|at| at.within(#text))?;)
        } else if let Some(check) = &param.check {
            quote!(#check(&self.#own).map_err(|at| at.within(#text))?;)
        } else if let Some(item) = attributes::item_of(&field.ty) {
            let kind = attributes::last_of(item)?;
            let each = quote!(self.#own.iter().try_for_each(|one| {
                ::skycell_declare::types::check::#kind(one, context, #text)
            })?;);
            match param.is_ascending {
                true => quote!(#each ::skycell_declare::types::check_ascending(&self.#own, #text)?;),
                false => each,
            }
        } else {
            let kind = attributes::last_of(&field.ty)?;
            quote!(::skycell_declare::types::check::#kind(&self.#own, context, #text)?;)
        });
        if let Some((other, may_equal)) = &param.relation {
            let of = syn::Ident::new(other, own.span());
            orders.push(quote!(::skycell_declare::types::check_order(
                (#text, &self.#own), (#other, &self.#of), #may_equal
            )?;));
        }
    }
    Ok(quote! {
        impl ::skycell_declare::Rule for #name {
            fn check(
                &self,
                context: &::skycell_declare::Context,
            ) -> ::core::result::Result<(), ::skycell_declare::Refusal> {
                _ = context;
                #(#ranges)*
                #(#orders)*
                Ok(())
            }
        }
    })
}
