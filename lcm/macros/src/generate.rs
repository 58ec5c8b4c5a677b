//! Generating Rust types from definitions.

use crate::definition::{Constant, Dimension, File, Kind, Member, Struct};
use crate::fingerprint;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

pub(crate) fn types(file: &File) -> TokenStream {
    let structs = file.structs.iter().map(|s| one(&file.root, s));
    // Including the file makes the compiler rebuild when it changes.
    let path = file.path.iter();
    quote! {
        #(const _: &[::core::primitive::u8] = ::core::include_bytes!(#path);)*
        #(#structs)*
    }
}

/// `lcmt_viewer_draw` as `LcmtViewerDraw`.
fn type_name(name: &Ident) -> Ident {
    let text = name.to_string();
    let words = text.split('_').filter(|word| !word.is_empty());
    let camel: String = words
        .map(|word| {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            first.to_uppercase() + rest
        })
        .collect();
    Ident::new(&camel, name.span())
}

/// The name of a member, raw if it is a Rust keyword.
fn member_name(name: &Ident) -> Ident {
    let text = name.to_string();
    const KEYWORDS: [&str; 30] = [
        "abstract", "as", "async", "await", "become", "box", "do", "dyn", "final", "fn", "impl",
        "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
        "ref", "trait", "try", "type", "unsized", "use", "where", "yield",
    ];
    if KEYWORDS.contains(&text.as_str()) {
        Ident::new_raw(&text, name.span())
    } else {
        name.clone()
    }
}

fn rust(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// The type of one element of a member.
fn element(kind: &Kind) -> TokenStream {
    match kind {
        Kind::Primitive(p) if p.name == "string" => quote!(::std::string::String),
        Kind::Primitive(p) => {
            let name = rust(p.rust);
            quote!(::core::primitive::#name)
        }
        Kind::Struct(name) => {
            let name = type_name(name);
            quote!(#name)
        }
    }
}

/// The type of a member.
fn member_type(root: &TokenStream, member: &Member) -> TokenStream {
    let mut dimensions = &member.dimensions[..];
    let mut element = element(&member.kind);
    if let (Kind::Primitive(p), [outer @ .., Dimension::Variable { .. }]) =
        (&member.kind, dimensions)
        && p.name == "byte"
    {
        (element, dimensions) = (quote!(#root::Bytes), outer);
    }
    let wrap = |of, dimension: &Dimension| match dimension {
        Dimension::Constant { size, .. } => quote!([#of; #size]),
        Dimension::Variable { .. } => quote!(::std::vec::Vec<#of>),
    };
    dimensions.iter().rev().fold(element, wrap)
}

/// The member as written in the definition.
fn definition(member: &Member) -> String {
    let kind = match &member.kind {
        Kind::Primitive(p) => p.name.to_string(),
        Kind::Struct(name) => name.to_string(),
    };
    let dimensions = member.dimensions.iter().map(|d| format!("[{}]", d.text()));
    format!("{kind} {}{}", member.name, dimensions.collect::<String>())
}

/// The members that use a size, each with the depth of the `Vec` that it sizes.
fn uses(of: &Struct, index: usize) -> Vec<(&Member, usize)> {
    let is_variable = |d: &&Dimension| matches!(d, Dimension::Variable { .. });
    let mut found = vec![];
    for member in &of.members {
        for (depth, d) in member.dimensions.iter().filter(is_variable).enumerate() {
            if matches!(d, Dimension::Variable { member, .. } if *member == index) {
                found.push((member, depth));
            }
        }
    }
    found
}

fn one(root: &TokenStream, of: &Struct) -> TokenStream {
    let wire = quote!(#root::wire);
    let (attributes, name) = (&of.attributes, type_name(&of.name));
    let lcm_name = of.name.to_string();
    let about = format!("LCM type `{lcm_name}`.");
    let is_size: Vec<bool> = (0..of.members.len())
        .map(|i| !uses(of, i).is_empty())
        .collect();

    let (mut fields, mut names, mut zeros) = (vec![], vec![], vec![]);
    let (mut writes, mut reads, mut skips, mut minima) = (vec![], vec![], vec![], vec![]);
    for (index, member) in of.members.iter().enumerate() {
        let (lcm_member, field) = (member.name.to_string(), member_name(&member.name));
        let size = format_ident!("size_{}", index);
        let ty = member_type(root, member);
        minima.push(quote!(<#ty as #wire::Wire>::MIN));
        if is_size[index] {
            let found = uses(of, index);
            let sizes = found.iter().map(|(member, depth)| {
                let field = member_name(&member.name);
                quote!(#wire::Wire::size(&self.#field, #depth))
            });
            writes.push(quote! {
                let #size = #wire::first_size(&[#(#sizes),*]);
                out.size::<#ty>(#lcm_member, #size)?;
            });
            let read = quote!(let #size = from.size::<#ty>(#lcm_member)?;);
            skips.push(read.clone());
            reads.push(read);
            continue;
        }
        let (doc, attributes) = (format!("`{}`", definition(member)), &member.attributes);
        fields.push(quote!(#attributes #[doc = ""] #[doc = #doc] pub #field: #ty,));
        names.push(field.clone());
        zeros.push(quote!(#field: <#ty as #wire::Wire>::zero(),));
        let sizes = member.dimensions.iter().filter_map(|d| match d {
            Dimension::Constant { .. } => None,
            Dimension::Variable { member, .. } => Some(format_ident!("size_{}", member)),
        });
        let sizes = quote!(&[#(#sizes),*]);
        writes.push(quote!(out.member(#lcm_member, &self.#field, #sizes)?;));
        reads.push(quote!(from.member(#lcm_member, &mut self.#field, #sizes)?;));
        skips.push(quote!(from.skip::<#ty>(#lcm_member, #sizes)?;));
    }
    let base = fingerprint::base(of);
    let children = of.members.iter().filter_map(|m| match &m.kind {
        Kind::Struct(name) => Some(type_name(name)),
        Kind::Primitive(_) => None,
    });
    let constants = of.constants.iter().map(constant);
    let reason = "names are those of the LCM definition";
    quote! {
        #attributes
        #[doc = ""]
        #[doc = #about]
        #[allow(non_snake_case, reason = #reason)]
        #[derive(Debug, PartialEq)]
        pub struct #name { #(#fields)* }

        // Not derived, because a derived `clone_from` does not reuse memory.
        impl ::core::clone::Clone for #name {
            fn clone(&self) -> Self {
                Self { #(#names: ::core::clone::Clone::clone(&self.#names),)* }
            }
            fn clone_from(&mut self, source: &Self) {
                let _ = source;
                #(::core::clone::Clone::clone_from(&mut self.#names, &source.#names);)*
            }
        }

        #[allow(non_upper_case_globals, reason = #reason)]
        impl #name { #(#constants)* }

        impl ::core::default::Default for #name {
            fn default() -> Self {
                Self { #(#zeros)* }
            }
        }

        impl #wire::Wire for #name {
            const MIN: usize = 0 #(+ #minima)*;
            fn zero() -> Self {
                Self::default()
            }
            fn write(&self, out: &mut #wire::Encoder<'_>, _: &[usize]) -> #root::Result<()> {
                #(#writes)*
                Ok(())
            }
            fn read(&mut self, from: &mut #wire::Decoder<'_>, _: &[usize]) -> #root::Result<()> {
                from.enter(#lcm_name)?;
                #(#reads)*
                from.leave();
                Ok(())
            }
            fn skip(count: usize, from: &mut #wire::Decoder<'_>, _: &[usize]) -> #root::Result<()> {
                for _ in 0..count {
                    from.enter(#lcm_name)?;
                    #(#skips)*
                    from.leave();
                }
                Ok(())
            }
        }

        impl #root::LcmMessage for #name {
            const NAME: &'static str = #lcm_name;
            fn fingerprint() -> u64 {
                static FINGERPRINT: ::std::sync::OnceLock<u64> = ::std::sync::OnceLock::new();
                *FINGERPRINT.get_or_init(|| Self::hash(#wire::Parents::none()))
            }
            fn hash(parents: #wire::Parents<'_>) -> u64 {
                parents.enter::<Self>(|parents| {
                    let _ = parents;
                    let hash = #base;
                    #(let hash = hash.wrapping_add(<#children as #root::LcmMessage>::hash(parents));)*
                    hash.rotate_left(1)
                })
            }
        }
    }
}

fn constant(of: &Constant) -> TokenStream {
    let (attributes, name, value, kind) = (&of.attributes, &of.name, &of.value, rust(of.kind.rust));
    // Integer literals are allowed for a `double`.
    let value = if of.kind.is_integer() {
        quote!(#value)
    } else {
        quote!((#value) as ::core::primitive::#kind)
    };
    let doc = format!("`const {} {name}`", of.kind.name);
    quote!(#attributes #[doc = ""] #[doc = #doc] pub const #name: ::core::primitive::#kind = #value;)
}
