//! Outlines and skeletons of one small file each of Java, C# and Kotlin.

use super::{outlined, shortened};

#[test]
fn java() {
    let text = include_str!("../fixtures/sample.java");
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
fn csharp() {
    let text = include_str!("../fixtures/sample.cs");
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
fn kotlin() {
    let text = include_str!("../fixtures/sample.kt");
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
