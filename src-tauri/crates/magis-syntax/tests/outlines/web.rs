//! Outlines and skeletons of one small file each of JavaScript and TypeScript.

use super::{outlined, shortened};

#[test]
fn javascript() {
    let text = include_str!("../fixtures/sample.js");
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
fn functions_of_javascript_that_are_values_have_their_own_names() {
    let text = "module.exports = function parse(text) {\n  return text.map(function trimmed(part) {\n    return part.trim();\n  });\n};\nvar a = function b() {};\nmodule.exports = (x) => x;\n";
    insta::assert_snapshot!(outlined("a.js", text), @r"
    function parse 1-5 from 1: module.exports = function parse(text)
      function parse.trimmed 2-4 from 2: function trimmed(part)
    function a 6 from 6: var a = function b()
    function exports 7 from 7: module.exports = (x) =>
    ");
}

#[test]
fn typescript() {
    let text = include_str!("../fixtures/sample.ts");
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
    let text = include_str!("../fixtures/sample.tsx");
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
