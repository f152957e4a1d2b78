//! Which names a file binds in which of its scopes, and where it uses names; one file a language.
//!
//! A scope knows names, not the order in which they come to be: a name used before it is assigned counts as bound.
//! Where reading is unsure, a name is bound rather than used, so that whoever looks for undefined names finds too few.

pub(crate) mod heads;
pub(crate) mod python;
pub(crate) mod rust;
pub(crate) mod script;

use std::collections::HashMap;

/// All scopes of a file; the first is the file itself.
pub(crate) struct Scopes<'s> {
    pub(crate) all: Vec<Scope<'s>>,
    pub(crate) uses: Vec<Use<'s>>,
    /// Whether names may come to be in ways that are not to be seen: star imports, `exec`.
    pub(crate) dynamic: bool,
    /// The scopes around the node being read, with the depth of the node that opened each.
    around: Vec<(usize, usize)>,
}

/// Part of a file with names of its own.
pub(crate) struct Scope<'s> {
    pub(crate) kind: ScopeKind,
    pub(crate) above: Option<usize>,
    /// Where its body begins: what is before it, as defaults are, sees the names of a class around.
    pub(crate) body_start: usize,
    pub(crate) names: HashMap<&'s str, Bound>,
    /// Whether any name may be bound here.
    pub(crate) open: bool,
}

/// What a scope belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Module,
    /// A class, whose names its functions do not see.
    Class,
    Function,
    /// A comprehension or lambda.
    Inner,
}

/// How a scope binds a name.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bound {
    pub(crate) times: u32,
    /// The definition that binds it, by its number in the file; the last where there are several.
    pub(crate) definition: Option<usize>,
}

/// A name where it is used.
pub(crate) struct Use<'s> {
    pub(crate) name: &'s str,
    pub(crate) scope: usize,
    pub(crate) byte: usize,
}

/// What is done with the names below a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Used,
    Bound,
    /// Neither: attributes, labels, types.
    Neither,
}

impl<'s> Scopes<'s> {
    fn new() -> Self {
        let mut scopes = Self {
            all: Vec::new(),
            uses: Vec::new(),
            dynamic: false,
            around: Vec::new(),
        };
        scopes.open(0, ScopeKind::Module, 0);
        scopes
    }

    fn open(&mut self, depth: usize, kind: ScopeKind, body_start: usize) -> usize {
        self.all.push(Scope {
            kind,
            above: self.around.last().map(|(_, scope)| *scope),
            body_start,
            names: HashMap::new(),
            open: false,
        });
        let scope = self.all.len() - 1;
        self.around.push((depth, scope));
        scope
    }

    /// Leaves the scopes that a node of this depth is not in.
    fn leave(&mut self, depth: usize) {
        while self.around.len() > 1 && self.around.last().is_some_and(|(opened, _)| *opened >= depth) {
            self.around.pop();
        }
    }

    fn current(&self) -> usize {
        self.around.last().map_or(0, |(_, scope)| *scope)
    }

    fn bind_in(&mut self, scope: usize, name: &'s str, definition: Option<usize>) {
        let bound = self.all[scope].names.entry(name).or_default();
        bound.times += 1;
        bound.definition = definition;
    }

    fn bind(&mut self, name: &'s str) {
        self.bind_in(self.current(), name, None);
    }

    fn use_name(&mut self, name: &'s str, byte: usize) {
        let scope = self.current();
        self.uses.push(Use { name, scope, byte });
    }

    /// Returns the scope in which a name is bound that is used in `scope` at `byte`; `Err` where nothing binds it, and
    /// where anything might.
    pub(crate) fn binder(&self, name: &str, scope: usize, byte: usize) -> Result<usize, Unbound> {
        let mut at = scope;
        let mut sees_class = true;
        loop {
            let here = &self.all[at];
            if (here.kind != ScopeKind::Class || sees_class) && here.names.contains_key(name) {
                return Ok(at);
            }
            if here.open {
                return Err(Unbound::Unsure);
            }
            sees_class = match here.kind {
                ScopeKind::Inner => sees_class,
                ScopeKind::Function | ScopeKind::Class => byte < here.body_start,
                ScopeKind::Module => false,
            };
            match here.above {
                Some(above) => at = above,
                None => return Err(Unbound::Nowhere),
            }
        }
    }

    /// Returns the names used that nothing in the file binds.
    pub(crate) fn unbound(&self) -> impl Iterator<Item = &Use<'s>> {
        let nowhere = |used: &&Use<'s>| self.binder(used.name, used.scope, used.byte) == Err(Unbound::Nowhere);
        self.uses.iter().filter(nowhere)
    }
}

/// Why no scope is known to bind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unbound {
    Nowhere,
    /// A scope on the way may bind anything.
    Unsure,
}
