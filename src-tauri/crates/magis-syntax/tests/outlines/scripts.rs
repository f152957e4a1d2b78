//! Outlines and skeletons of one small file each of Python, Ruby and PHP.

use super::{outlined, shortened};

#[test]
fn python() {
    let text = include_str!("../fixtures/sample.py");
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
fn ruby() {
    let text = include_str!("../fixtures/sample.rb");
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
    let text = include_str!("../fixtures/sample.php");
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
fn php_includes_are_places_seen_from_the_file() {
    for (written, target) in [
        ("__DIR__ . '/a.php'", "./a.php"),
        ("dirname(__FILE__) . '/a.php'", "./a.php"),
        ("dirname(__DIR__) . '/a.php'", "../a.php"),
        ("dirname(dirname(__FILE__)) . '/b/a.php'", "../b/a.php"),
        ("'lib/a.php'", "lib/a.php"),
    ] {
        let text = format!("<?php\nrequire_once {written};\n");
        assert_eq!(outlined("a.php", &text), format!("2 imports {target} \n"), "{written}");
    }
}
