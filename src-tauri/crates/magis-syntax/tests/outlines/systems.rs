//! Outlines and skeletons of one small file each of Rust, Go, C and C++.

use super::{outlined, shortened};

#[test]
fn rust() {
    let text = include_str!("../fixtures/sample.rs");
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
    let text = include_str!("../fixtures/sample.go");
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
fn c() {
    let text = include_str!("../fixtures/sample.c");
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
    let text = include_str!("../fixtures/sample.cpp");
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
