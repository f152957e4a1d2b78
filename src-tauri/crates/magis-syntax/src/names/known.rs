//! Names that need no definition.
//!
//! Too many rather than too few: a name that is missing here becomes a false finding.

use std::collections::HashSet;

/// Returns the words of one of the lists below.
pub(super) fn words(list: &'static str) -> HashSet<&'static str> {
    list.split_whitespace().collect()
}

/// Python's builtins, those of Python 2 and of notebooks included.
pub(super) const PYTHON: &str = "\
    ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError \
    BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError \
    ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception \
    ExceptionGroup FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError \
    ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError \
    KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplemented \
    NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError \
    PythonFinalizationError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StandardError \
    StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError \
    TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError \
    UnicodeWarning UserWarning ValueError Warning WindowsError ZeroDivisionError abs aiter all anext any apply ascii \
    basestring bin bool breakpoint buffer bytearray bytes callable chr classmethod cmp coerce compile complex \
    copyright credits delattr dict dir display divmod enumerate eval exec execfile exit file filter float format \
    frozendict frozenset get_ipython getattr globals hasattr hash help hex id input int intern isinstance issubclass iter len \
    license list locals long map max memoryview min next object oct open ord pow print property quit range raw_input \
    reduce reload repr reveal_locals reveal_type reversed round set setattr slice sorted staticmethod str sum super \
    tuple type unichr unicode vars xrange zip";

/// Globals of browsers, node, and the usual runners of tests.
pub(super) const SCRIPT: &str = "\
    AbortController AbortSignal AggregateError Array ArrayBuffer AsyncFunction Atomics Audio AudioContext \
    AudioWorkletNode AudioWorkletProcessor Backbone BigInt BigInt64Array BigUint64Array Blob Boolean \
    BroadcastChannel Buffer Bun ByteLengthQueuingStrategy CSS CSSRule CSSStyleDeclaration CSSStyleSheet \
    CanvasRenderingContext2D CharacterData ClipboardEvent ClipboardItem CloseEvent Comment CompositionEvent \
    CompressionStream CountQueuingStrategy Crypto CryptoKey CustomElementRegistry CustomEvent Cypress DOMException \
    DOMImplementation DOMMatrix DOMParser DOMPoint DOMRect DOMRectReadOnly DOMStringMap DOMTokenList DataTransfer \
    DataView Date DecompressionStream Deno Document DocumentFragment DragEvent Element Ember Error ErrorEvent \
    EvalError Event EventSource EventTarget File FileList FileReader FinalizationRegistry Float32Array Float64Array \
    FocusEvent FontFace FormData Function GamepadEvent Geolocation Handlebars HashChangeEvent Headers History \
    IDBKeyRange Image ImageBitmap ImageData Infinity InputEvent Int16Array Int32Array Int8Array IntersectionObserver \
    Intl Iterator JSON JSX KeyboardEvent L Location Map Math MediaQueryList MediaRecorder MediaSource MediaStream \
    MessageChannel MessageEvent MessagePort Meteor MouseEvent MutationObserver NaN NamedNodeMap Navigator Node \
    NodeFilter NodeJS NodeList Notification Number Object OffscreenCanvas Option PageTransitionEvent Path2D \
    Performance PerformanceObserver PointerEvent PopStateEvent ProgressEvent Promise PromiseRejectionEvent Proxy \
    RTCPeerConnection Range RangeError React ReactDOM ReadableStream ReferenceError Reflect RegExp Request \
    ResizeObserver Response SVGElement Selection Set ShadowRoot SharedArrayBuffer SharedWorker StaticRange Storage \
    StorageEvent String StyleSheet SubmitEvent SuppressedError Symbol SyntaxError Text TextDecoder TextDecoderStream \
    TextEncoder TextEncoderStream TouchEvent TransformStream TreeWalker TypeError UIEvent URIError URL URLPattern \
    URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray Vue WeakMap WeakRef WeakSet WebAssembly \
    WebSocket WheelEvent Window Worker WritableStream XMLHttpRequest XMLSerializer XPathResult addEventListener \
    after afterAll afterEach alert angular arguments assert assertType atob before beforeAll beforeEach blur browser \
    btoa caches cancelAnimationFrame cancelIdleCallback chrome clearImmediate clearInterval clearTimeout clients \
    close confirm console context cordova createImageBitmap crypto customElements cy d3 decodeURI decodeURIComponent \
    define describe devicePixelRatio dispatchEvent document encodeURI encodeURIComponent escape eval event expect \
    expectTypeOf exports external fail fdescribe fetch fit focus frameElement frames getComputedStyle getSelection \
    global globalThis goog google history importScripts indexedDB innerHeight innerWidth isFinite isNaN isPrototypeOf hasOwnProperty propertyIsEnumerable toString valueOf constructor await yield async navigation Float16Array Temporal Touch TouchList CodeMirror \
    isSecureContext it jQuery jasmine jest ko localStorage location matchMedia mocha module moduleId moment moveBy \
    name navigator onerror onmessage open opener origin outerHeight outerWidth page pageXOffset pageYOffset parent \
    parseFloat parseInt pending performance postMessage print process prompt queueMicrotask registerProcessor \
    registration removeEventListener reportError requestAnimationFrame requestIdleCallback require requirejs run \
    screen screenX screenY scroll scrollBy scrollTo scrollX scrollY self sessionStorage setImmediate setInterval \
    setTimeout setup sinon skipWaiting specify speechSynthesis spyOn status stop structuredClone suite suiteSetup \
    suiteTeardown teardown test top trustedTypes undefined unescape vi visualViewport webkitURL window xdescribe xit \
    xtest";

/// Functions of Rust's prelude.
pub(super) const RUST: &str = "\
    drop size_of size_of_val align_of align_of_val main _";
