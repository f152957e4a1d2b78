//! Outlines and skeletons of one small file a language.

#![expect(clippy::unwrap_used, reason = "a test says so by failing")]

use magis_core::RepoPath;
use magis_syntax::{outline, skeleton, skeleton_within};
use std::fmt::Write;

fn path(name: &str) -> RepoPath {
    RepoPath::new(name).unwrap()
}

/// Imports and symbols, one a line: kind, qualified name, span, the line the definition proper begins on, signature.
fn outlined(name: &str, text: &str) -> String {
    let found = outline(&path(name), text);
    let mut lines = String::new();
    for import in &found.imports {
        writeln!(
            lines,
            "{} imports {} {}",
            import.line,
            import.target,
            import.names.join(" ")
        )
        .unwrap();
    }
    for symbol in &found.symbols {
        let indent = "  ".repeat(symbol.depth as usize);
        let (kind, name, span) = (symbol.kind, &symbol.qualified_name, symbol.span);
        writeln!(
            lines,
            "{indent}{kind} {name} {span} from {}: {}",
            symbol.body_first, symbol.signature
        )
        .unwrap();
    }
    lines
}

fn shortened(name: &str, text: &str) -> String {
    skeleton(&path(name), text).unwrap().text
}

#[test]
fn innermost_and_find_follow_the_nesting() {
    let found = outline(&path("a.py"), include_str!("fixtures/sample.py"));
    let names = |name: &str| {
        found
            .find(name)
            .iter()
            .map(|s| s.qualified_name.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("value"), ["Session.value"]);
    assert_eq!(names("Session::value"), ["Session.value"]);
    assert_eq!(names("session.Session.value"), Vec::<&str>::new());
    assert_eq!(names("alue"), Vec::<&str>::new());
    let at = |line| found.innermost(line).map(|symbol| symbol.qualified_name.as_str());
    assert_eq!(
        [at(1), at(27), at(33), at(36), at(43), at(56)],
        [
            None,
            Some("opened"),
            Some("opened.inner"),
            Some("opened"),
            Some("Session"),
            Some("Session.value")
        ]
    );
}

#[test]
fn an_unknown_language_has_neither_symbols_nor_skeleton() {
    let found = outline(&path("a.txt"), "def f():\n    pass\n");
    assert_eq!((found.language, found.symbols.len(), found.lines), (None, 0, 2));
    assert_eq!(skeleton(&path("a.txt"), "x"), None);
}

#[test]
fn a_skeleton_gives_up_detail_after_detail_to_fit() {
    let text = include_str!("fixtures/sample.py");
    let whole = skeleton(&path("a.py"), text).unwrap();
    let mut sizes = vec![whole.text.chars().count()];
    for (most, says) in [
        (790, "left out to fit: documentation\n"),
        (740, "functions within functions\n"),
        (736, "private definitions\n"),
        (700, "constants\n"),
        (300, "the other"),
    ] {
        let skeleton = skeleton_within(&path("a.py"), text, most).unwrap();
        sizes.push(skeleton.text.chars().count());
        assert!(sizes[sizes.len() - 1] <= most, "{} of {most}", sizes[sizes.len() - 1]);
        assert!(skeleton.text.contains(says), "{says} at {most}:\n{}", skeleton.text);
    }
    assert!(sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
}

#[test]
fn python() {
    let text = include_str!("fixtures/sample.py");
    insta::assert_snapshot!(outlined("a.py", text), @r###"
    5 imports __future__ annotations
    7 imports os.path 
    7 imports sys 
    8 imports . models
    9 imports ..utils default_headers to_key_val_list
    15 imports typing Any
    31 imports io 
    constant LIMITS 17-21 from 17: LIMITS = { "a": 1, "b": 2, "c": 3, }
    constant _cache 22 from 22: _cache: dict[str, int] = {}
    function opened 25-37 from 26: def opened(path: str, mode: str = "r") -> Iterator[IO]
      function opened.inner 33-35 from 33: def inner(x)
    class Session 40-65 from 40: class Session(Base)
      method Session.__init__ 51-53 from 51: def __init__(self) -> None
      method Session.value 56-58 from 57: async def value(self)
      class Session.Meta 60-61 from 60: class Meta
      method Session._hidden 63-65 from 63: def _hidden(self)
    "###);
    insta::assert_snapshot!(shortened("a.py", text), @r###"
    """Sessions."""
    from __future__ import annotations

    import os.path, sys as system
    from . import models
    from ..utils import (default_headers, to_key_val_list as to_list)

    if TYPE_CHECKING:
        from typing import Any

    LIMITS = {
        # ... 3 lines
    }
    _cache: dict[str, int] = {}

    @contextmanager
    def opened(
        path: str,  # where
        mode: str = "r",
    ) -> Iterator[IO]:
        """Opens a file."""
        # ... 1 line
        def inner(x):
            # ... 2 lines
        # ... 1 line

    class Session(Base):
        """A session."""

        timeout = 5
        __attrs__ = [
            # ... 4 lines
        ]

        def __init__(self) -> None:
            # ... 2 lines
        @property
        async def value(self):
            return self.a

        class Meta:
            ordering = ["a"]

        def _hidden(self):
            # ... 2 lines

    # ... 2 lines
    "###);
}

#[test]
fn javascript() {
    let text = include_str!("fixtures/sample.js");
    insta::assert_snapshot!(outlined("a.js", text), @r###"
    3 imports react React useState b
    4 imports fs 
    constant fs 4 from 4: const fs = require('fs')
    constant LIMITS 6-11 from 6: const LIMITS = { a: 1, b: 2, c: 3, d: 4, }
    function add 13-23 from 17: export async function add(a, b)
      function add.inner 18-20 from 18: function inner(x)
    class Foo 25-42 from 25: export default class Foo extends Bar
      method Foo.handle 28-31 from 28: handle = (e) =>
      method Foo.value 32-36 from 33: get value()
      method Foo.constructor 37-41 from 37: constructor(a, b)
    method Foo.baz 44-46 from 44: Foo.prototype.baz = function (q)
    function helper 47 from 47: module.exports.helper = (x) =>
    constant api 48-54 from 48: const api = { load(x) { return x; }, save: async function () { a(); b(); }, }
      method api.load 49 from 49: load(x)
      method api.save 50-53 from 50: save: async function ()
    "###);
    insta::assert_snapshot!(shortened("a.js", text), @r###"
    // ... 1 line
    import React, { useState as s, b } from 'react';
    const fs = require('fs');

    const LIMITS = {
      // ... 4 lines
    };

    /** Adds. */
    export async function add(a, b) {
      function inner(x) {
        return x;
      }
      // ... 2 lines
    }

    export default class Foo extends Bar {
      #secret = 1;
      static x = 2;
      handle = (e) => {
        // ... 2 lines
      };
      /** Gets. */
      get value() {
        // ... 2 lines
      }
      constructor(a,
                  b) {
        // ... 2 lines
      }
    }

    Foo.prototype.baz = function (q) {
      return q;
    };
    module.exports.helper = (x) => x;
    const api = {
      load(x) { return x; },
      save: async function () {
        // ... 2 lines
      },
    };
    // ... 4 lines
    "###);
}

#[test]
fn typescript() {
    let text = include_str!("fixtures/sample.ts");
    insta::assert_snapshot!(outlined("a.ts", text), @r###"
    1 imports ./a A
    2 imports ./b *
    interface Props 3 from 3: export interface Props
      method Props.go 3 from 3: go(x: number): void
    type Id 4 from 4: export type Id = string | number
    enum Color 5 from 5: export enum Color
    module NS 6 from 6: namespace NS
      function NS.inner 6 from 6: export function inner(): void
    class Foo 7-17 from 8: export class Foo<T>
      method Foo.constructor 11 from 11: constructor(private readonly a: A)
      method Foo.onClick 12-16 from 13: protected onClick(e: Event): void
    class Base 18 from 18: export abstract class Base
      method Base.run 18 from 18: abstract run(): void
    function ext 19 from 19: declare function ext(a: number): string
    function useThing 20 from 20: export const useThing = <T,>(a: T): T =>
    "###);
    insta::assert_snapshot!(shortened("a.ts", text), @r###"
    import type { A } from './a';
    export * from './b';
    export interface Props { name: string; go(x: number): void }
    export type Id = string | number;
    export enum Color { Red, Green }
    namespace NS { export function inner(): void { a(); b(); } }
    @Component({ selector: 'x' })
    export class Foo<T> {
      @Input() name: string;
      private x = 1;
      constructor(private readonly a: A) {}
      @HostListener('click')
      protected onClick(e: Event): void {
        // ... 2 lines
      }
    }
    export abstract class Base { abstract run(): void; }
    declare function ext(a: number): string;
    export const useThing = <T,>(a: T): T => { b(); return a; };
    "###);
}

#[test]
fn tsx() {
    let text = include_str!("fixtures/sample.tsx");
    insta::assert_snapshot!(outlined("a.tsx", text), @r###"
    1 imports react useState
    interface Props 3-5 from 3: interface Props
    function Button 7-13 from 7: export default function Button({ label }: Props)
      function Button.click 9-11 from 9: const click = () =>
    "###);
    insta::assert_snapshot!(shortened("a.tsx", text), @r###"
    import { useState } from "react";

    interface Props {
      label: string;
    }

    export default function Button({ label }: Props) {
      // ... 1 line
      const click = () => {
        setCount(count + 1);
      };
      // ... 1 line
    }
    "###);
}

#[test]
fn rust() {
    let text = include_str!("fixtures/sample.rs");
    insta::assert_snapshot!(outlined("a.rs", text), @r###"
    3 imports std fmt io
    3 imports std::io Read
    4 imports crate::foo Bar
    5 imports other 
    42 imports super *
    struct Point 7-15 from 11: pub struct Point<T>
    struct Wrap 16 from 16: pub struct Wrap(u32)
    constant MAX 17 from 17: const MAX: usize = 3
    method Point.new 20-24 from 21: pub fn new(x: T, y: T) -> Self
    method Point.private 25-29 from 25: fn private(&self) -> usize
      function Point.private::nested 26 from 26: fn nested() -> usize
    method Point.fmt 33-36 from 33: fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result
    trait Shape 38 from 38: pub trait Shape
      method Shape.area 38 from 38: fn area(&self) -> f64
      method Shape.twice 38 from 38: fn twice(&self) -> f64
    macro m 39 from 39: macro_rules! m
    enum E 40 from 40: pub enum E
    module tests 41-47 from 41: mod tests
      function tests::it_works 43-46 from 44: fn it_works()
    "###);
    insta::assert_snapshot!(shortened("a.rs", text), @r###"
    //! Crate docs.
    use std::{fmt, io::{self, Read as R}};
    use crate::foo::Bar;
    mod other;

    /// A point.
    #[derive(Debug)]
    pub struct Point<T> {
        /// x
        pub x: T,
        y: T,
    }
    pub struct Wrap(u32);
    const MAX: usize = 3;

    impl<T: fmt::Debug> Point<T> {
        /// Makes.
        pub fn new(x: T, y: T) -> Self {
            // ... 2 lines
        }
        fn private(&self) -> usize {
            fn nested() -> usize { 1 }
            // ... 2 lines
        }
    }

    impl fmt::Display for Point<u32> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            // ... 2 lines
        }
    }
    pub trait Shape { fn area(&self) -> f64; fn twice(&self) -> f64 { self.area() * 2.0 } }
    macro_rules! m { ($a:expr) => { $a } }
    pub enum E { A, B(u32) }
    mod tests {
        use super::*;
        #[test]
        fn it_works() {
            assert!(true);
        }
    }
    "###);
}

#[test]
fn go() {
    let text = include_str!("fixtures/sample.go");
    insta::assert_snapshot!(outlined("a.go", text), @r###"
    5 imports fmt 
    6 imports math/rand 
    constant Pi 9 from 9: const Pi = 3
    constant A 11 from 11: A = iota
    constant B 12 from 12: B
    struct Server 15-20 from 17: type Server struct
    interface Handler 23-26 from 24: Handler interface
      method Handler.Serve 25 from 25: Serve(a int) error
    type ID 27 from 27: ID = string
    method Server.Close 30-35 from 31: func (s *Server) Close(ctx Context) (err error)
    function helper 37-39 from 37: func helper[T any](x T) T
    "###);
    insta::assert_snapshot!(shortened("a.go", text), @r###"
    // Package a does.
    package a

    import (
    	"fmt"
    	m "math/rand"
    )

    const Pi = 3
    const (
    	A = iota
    	B
    )

    // Server serves.
    type Server struct {
    	addr string
    	n    int
    }

    type (
    	// Handler handles.
    	Handler interface {
    		Serve(a int) error
    	}
    	ID = string
    )

    // Close closes.
    func (s *Server) Close(ctx Context) (err error) {
    	// ... 3 lines
    }

    func helper[T any](x T) T {
    	return x
    }
    "###);
}

#[test]
fn java() {
    let text = include_str!("fixtures/sample.java");
    insta::assert_snapshot!(outlined("a.java", text), @r###"
    4 imports java.util.List 
    5 imports a.B c
    6 imports a.d *
    class Service 8-34 from 10: public class Service<T> extends Base implements I
      constant Service.MAX 11 from 11: private static final int MAX = 3
      method Service.Service 14-17 from 14: public Service(String name)
      method Service.run 19-28 from 23: public List<T> run(int a, String b) throws IOException
      method Service.hide 30 from 30: private void hide()
      enum Service.Kind 31 from 31: enum Kind
      interface Service.Inner 32 from 32: interface Inner
        method Service.Inner.call 32 from 32: void call()
      class Service.P 33 from 33: record P(int x, int y)
    "###);
    insta::assert_snapshot!(shortened("a.java", text), @r###"
    package a.b;

    import java.util.List;
    import static a.B.c;
    import a.d.*;

    /** A service. */
    @Component
    public class Service<T> extends Base implements I {
        private static final int MAX = 3;
        private String name;

        public Service(String name) {
            // ... 2 lines
        }

        /** Runs. */
        @Override
        public List<T> run(int a, String b)
                throws IOException {
            // ... 3 lines
        }

        private void hide() {}
        enum Kind { A, B }
        interface Inner { void call(); }
        record P(int x, int y) {}
    }
    "###);
}

#[test]
fn c() {
    let text = include_str!("fixtures/sample.c");
    insta::assert_snapshot!(outlined("a.c", text), @r###"
    3 imports stdio.h 
    4 imports a/b.h 
    macro MAX 5 from 5: #define MAX(a, b) ((a) > (b) ? (a) : (b))
    macro LIMIT 6 from 6: #define LIMIT 10
    struct node_t 8-12 from 9: typedef struct node
    struct plain 14 from 14: struct plain
    enum color 15 from 15: enum color
    constant counter 16 from 16: static int counter = 0
    function proto 17 from 17: int proto(int a, char *b)
    function add 19-25 from 21: static int *add(int a, int b)
    "###);
    insta::assert_snapshot!(shortened("a.c", text), @r###"
    // ... 2 lines
    #include <stdio.h>
    #include "a/b.h"
    #define MAX(a, b) ((a) > (b) ? (a) : (b))
    #define LIMIT 10

    /* A node. */
    typedef struct node {
        int x;
        struct node *next;
    } node_t;

    struct plain { int a; };
    enum color { RED, GREEN };
    static int counter = 0;
    int proto(int a, char *b);

    /* Adds. */
    static int *add(int a, int b)
    {
        // ... 2 lines
    }
    // ... 1 line
    "###);
}

#[test]
fn cpp() {
    let text = include_str!("fixtures/sample.cpp");
    insta::assert_snapshot!(outlined("a.cpp", text), @r###"
    1 imports vector 
    module ns 2-19 from 2: namespace ns
      class ns::Widget 3-12 from 4: class Widget : public Base
        method ns::Widget::Widget 6 from 6: Widget(int a)
        method ns::Widget::~Widget 7 from 7: virtual ~Widget() = default
        method ns::Widget::size 8 from 8: int size() const
        method ns::Widget::operator== 9 from 9: bool operator==(const Widget& o) const
      function ns::max 13-17 from 14: template <typename T> T max(T a, T b)
      type ns::Vec 18 from 18: using Vec = std::vector<int>
    method ns::Widget::grow 20-24 from 20: int ns::Widget::grow(int by)
    "###);
    insta::assert_snapshot!(shortened("a.cpp", text), @r###"
    #include <vector>
    namespace ns {
    /// A widget.
    class Widget : public Base {
    public:
        Widget(int a);
        virtual ~Widget() = default;
        int size() const { return size_; }
        bool operator==(const Widget& o) const;
    private:
        int size_;
    };
    template <typename T>
    T max(T a, T b) {
        // ... 2 lines
    }
    using Vec = std::vector<int>;
    }
    int ns::Widget::grow(int by) {
        // ... 3 lines
    }
    "###);
}

#[test]
fn csharp() {
    let text = include_str!("fixtures/sample.cs");
    insta::assert_snapshot!(outlined("a.cs", text), @r###"
    1 imports System 
    2 imports System.Text 
    3 imports System.Math 
    module App.Net 5-47 from 5: namespace App.Net
      class App.Net.Session 7-38 from 9: public class Session<T> : Base, IDisposable
        constant App.Net.Session.Limit 11 from 11: private const int Limit = 3
        constant App.Net.Session.Name 12 from 12: public static readonly string Name = "s"
        method App.Net.Session.Size 15-18 from 15: public int Size
        method App.Net.Session.Session 20-24 from 20: public Session(string name)
        method App.Net.Session.Run 26-33 from 28: public async Task<T> Run(int a, string b)
          function App.Net.Session.Run.Twice 30 from 30: int Twice(int x)
        method App.Net.Session.Hide 35 from 35: private void Hide()
        enum App.Net.Session.Kind 37 from 37: public enum Kind
      interface App.Net.IThing 40 from 40: public interface IThing
        method App.Net.IThing.Call 40 from 40: void Call()
      class App.Net.Point 42 from 42: public record Point(int X, int Y)
      struct App.Net.Pair 44 from 44: public struct Pair
      type App.Net.Handler 46 from 46: public delegate void Handler(object sender)
    "###);
    insta::assert_snapshot!(shortened("a.cs", text), @r###"
    using System;
    using Text = System.Text;
    using static System.Math;

    namespace App.Net
    {
        /// <summary>A session.</summary>
        [Serializable]
        public class Session<T> : Base, IDisposable
        {
            private const int Limit = 3;
            public static readonly string Name = "s";
            public int Plain { get; set; }

            public int Size
            {
                get { return this.size; }
            }

            public Session(string name)
            {
                // ... 2 lines
            }

            /// <summary>Runs.</summary>
            [Obsolete]
            public async Task<T> Run(int a, string b)
            {
                int Twice(int x) => x * 2;
                // ... 2 lines
            }

            private void Hide() { }

            public enum Kind { A, B }
        }

        public interface IThing { void Call(); }

        public record Point(int X, int Y);

        public struct Pair { public int A; }

        public delegate void Handler(object sender);
    }
    "###);
}

#[test]
fn ruby() {
    let text = include_str!("fixtures/sample.rb");
    insta::assert_snapshot!(outlined("a.rb", text), @r###"
    1 imports json 
    2 imports ./net/http 
    module Net 4-39 from 4: module Net
      constant Net.LIMIT 5 from 5: LIMIT = 3
      class Net.Session 7-38 from 9: class Session < Base
        method Net.Session.initialize 13-16 from 13: def initialize(name)
        method Net.Session.run 18-23 from 19: def run(a, b = 2)
        method Net.Session.build 25-27 from 25: def self.build(name)
        method Net.Session.cached? 30-32 from 30: def cached?
        method Net.Session.hide 37 from 37: def hide; end
    function top 41-43 from 41: def top(x)
    "###);
    insta::assert_snapshot!(shortened("a.rb", text), @r###"
    require 'json'
    require_relative 'net/http'

    module Net
      LIMIT = 3

      # A session.
      class Session < Base
        include Comparable
        attr_reader :name

        def initialize(name)
          # ... 2 lines
        end

        # Runs.
        def run(a, b = 2)
          # ... 3 lines
        end

        def self.build(name)
          new(name)
        end

        class << self
          def cached?
            true
          end
        end

        private

        def hide; end
      end
    end

    def top(x)
      x + 1
    end
    "###);
}

#[test]
fn php() {
    let text = include_str!("fixtures/sample.php");
    insta::assert_snapshot!(outlined("a.php", text), @r###"
    5 imports App\Base 
    6 imports App\Text\Writer 
    6 imports App\Text\Reader 
    7 imports strlen 
    9 imports ./boot.php 
    constant LIMIT 11 from 11: const LIMIT = 3
    class Session 13-38 from 15: class Session extends Base implements Countable
      constant Session.NAME 19 from 19: NAME = 's'
      method Session.__construct 22-26 from 22: public function __construct(string $name)
      method Session.run 28-35 from 29: public function run(int $a, string $b = 'x'): array
      method Session.hide 37 from 37: private function hide()
    interface Thing 40-43 from 40: interface Thing
      method Thing.call 42 from 42: public function call(): void
    trait Loud 45-48 from 45: trait Loud
      method Loud.shout 47 from 47: public function shout()
    enum Kind 50-53 from 50: enum Kind: string
    function top 55-58 from 55: function top($x)
    "###);
    insta::assert_snapshot!(shortened("a.php", text), @r###"
    <?php

    namespace App\Net;

    use App\Base;
    use App\Text\{Writer, Reader as R};
    use function strlen;

    require_once __DIR__ . '/boot.php';

    const LIMIT = 3;

    /** A session. */
    #[Attribute]
    class Session extends Base implements Countable
    {
        use Loud;

        private const NAME = 's';
        private string $name;

        public function __construct(string $name)
        {
            // ... 2 lines
        }

        /** Runs. */
        public function run(int $a, string $b = 'x'): array
        {
            // ... 4 lines
        }

        private function hide() {}
    }

    interface Thing
    {
        public function call(): void;
    }

    trait Loud
    {
        public function shout() { return 'a'; }
    }

    enum Kind: string
    {
        case A = 'a';
    }

    function top($x)
    {
        return $x + 1;
    }
    "###);
}

#[test]
fn kotlin() {
    let text = include_str!("fixtures/sample.kt");
    insta::assert_snapshot!(outlined("a.kt", text), @r###"
    3 imports java.util.List 
    4 imports app.base *
    constant LIMIT 6 from 6: const val LIMIT = 3
    type Names 7 from 7: typealias Names = List<String>
    class Session 9-31 from 11: class Session(private val name: String) : Base(), Closeable
      method Session.constructor 14-16 from 14: constructor() : this("x")
      method Session.run 18-23 from 20: override fun run(a: Int, b: String = "x"): List<String>
      method Session.hide 25 from 25: private fun hide()
      constant Session.NAME 28 from 28: const val NAME = "s"
      method Session.build 29 from 29: fun build()
    interface Thing 33 from 33: interface Thing
      method Thing.call 33 from 33: fun call()
    enum Kind 35 from 35: enum class Kind
      method Kind.first 35 from 35: fun first()
    class Registry 37-39 from 37: object Registry
      method Registry.find 38 from 38: fun find(name: String): Session?
    class Point 41 from 41: data class Point(val x: Int, val y: Int)
    function top 43 from 43: fun String.top(x: Int): Int
    "###);
    insta::assert_snapshot!(shortened("a.kt", text), @r###"
    package app.net

    import java.util.List
    import app.base.*

    const val LIMIT = 3
    typealias Names = List<String>

    /** A session. */
    @Serializable
    class Session(private val name: String) : Base(), Closeable {
        private val size = 2

        constructor() : this("x") {
            open()
        }

        /** Runs. */
        @Throws(IOException::class)
        override fun run(a: Int, b: String = "x"): List<String> {
            // ... 2 lines
        }

        private fun hide() {}

        companion object {
            const val NAME = "s"
            fun build() = Session("s")
        }
    }

    interface Thing { fun call() }

    enum class Kind { A, B; fun first() = A }

    object Registry {
        fun find(name: String): Session? = null
    }

    data class Point(val x: Int, val y: Int)

    fun String.top(x: Int): Int = x + 1
    "###);
}
