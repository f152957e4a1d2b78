/// Writes what each statement of a check printed, gave or raised. Every record is one line on the standard output: the marker, a blank, JSON; what the
/// statements print stands before the record of each.
mod magis_recorder {
    use std::cell::RefCell;
    use std::fmt::{Debug, Display};
    use std::io::Write as _;

    const LIMIT: usize = 20_000;

    #[derive(Clone, Copy)]
    pub struct Place {
        pub step: u32,
        pub statement: u32,
        pub line: u32,
        pub last_line: u32,
        pub asserts: bool,
    }

    thread_local! {
        static NOW: RefCell<Option<Place>> = const { RefCell::new(None) };
    }
    static PANIC: std::sync::Mutex<Option<(String, String)>> = std::sync::Mutex::new(None);

    pub fn begin(place: Place) {
        NOW.with_borrow_mut(|now| *now = Some(place));
    }

    pub fn end(forms: Vec<(&'static str, Option<String>)>, prefix: &str) {
        let forms: Vec<String> = forms
            .into_iter()
            .filter_map(|(form, text)| Some((form, text?)))
            .filter(|(_, text)| text != "()")
            .map(|(form, text)| format!("{}:{}", json(&format!("{prefix}{form}")), json(&text)))
            .collect();
        write(&forms.join(","), "null", "");
    }

    fn write(forms: &str, raised: &str, trace: &str) {
        let Some(at) = NOW.take() else { return };
        line(&format!(
            "{{\"step\":{},\"statement\":{},\"line\":{},\"last_line\":{},\"assertion\":{},\"printed\":\"\",\"logged\":\"\",\"forms\":{{{forms}}},\"unshown\":[],\"equals\":[],\"raised\":{raised},\"trace\":{}}}",
            at.step, at.statement, at.line, at.last_line, at.asserts, json(trace)
        ));
    }

    fn line(text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "\n{} {text}\n", super::MAGIS_MARKER);
        let _ = out.flush();
    }

    fn json(text: &str) -> String {
        let mut out = String::from("\"");
        for c in text.chars().take(LIMIT) {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
                c => out.push(c),
            }
        }
        out.push('"');
        out
    }

    fn raised(kind: &str, message: &str, trace: &str) {
        let raised = format!("{{\"kind\":{},\"message\":{}}}", json(kind), json(message));
        write("", &raised, trace);
    }

    pub fn run(steps: fn() -> Result<(), Box<dyn std::error::Error>>) {
        std::panic::set_hook(Box::new(|info| {
            let payload = info.payload();
            let message = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let message = message.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
            let place = info.location().map(|at| format!("at {}:{}:{}", at.file(), at.line(), at.column()));
            if let Ok(mut panic) = PANIC.lock() {
                panic.get_or_insert((message, place.unwrap_or_default()));
            }
        }));
        match std::panic::catch_unwind(steps) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => raised("Err", &error.to_string(), ""),
            Err(_) => {
                let (message, place) = PANIC.lock().ok().and_then(|mut panic| panic.take()).unwrap_or_default();
                let asserts = NOW.with_borrow(|now| now.is_some_and(|now| now.asserts));
                let kind = if asserts && message.starts_with("assertion") { "AssertionError" } else { "panic" };
                raised(kind, &message, &place);
            }
        }
        line("{\"end\":true,\"imports\":[],\"reached\":[]}");
    }

    /// A value that is shown in the ways that its type knows.
    pub struct Shown<'v, T: ?Sized>(pub &'v T);

    pub trait ByDebug {
        fn debug(&self) -> Option<String>;
        fn pretty(&self) -> Option<String>;
    }
    impl<T: Debug + ?Sized> ByDebug for Shown<'_, T> {
        fn debug(&self) -> Option<String> {
            Some(format!("{:?}", self.0))
        }
        fn pretty(&self) -> Option<String> {
            Some(format!("{:#?}", self.0))
        }
    }
    pub trait WithoutDebug {
        fn debug(&self) -> Option<String> {
            None
        }
        fn pretty(&self) -> Option<String> {
            None
        }
    }
    impl<T: ?Sized> WithoutDebug for &Shown<'_, T> {}

    pub trait ByDisplay {
        fn text(&self) -> Option<String>;
    }
    impl<T: Display + ?Sized> ByDisplay for Shown<'_, T> {
        fn text(&self) -> Option<String> {
            Some(self.0.to_string())
        }
    }
    pub trait WithoutDisplay {
        fn text(&self) -> Option<String> {
            None
        }
    }
    impl<T: ?Sized> WithoutDisplay for &Shown<'_, T> {}
}

macro_rules! magis_forms {
    ($value:expr) => {{
        use magis_recorder::{ByDebug as _, ByDisplay as _, WithoutDebug as _, WithoutDisplay as _};
        let shown = magis_recorder::Shown($value);
        vec![("repr", (&shown).debug()), ("pretty", (&shown).pretty()), ("str", (&shown).text())]
    }};
}

fn main() {
    magis_recorder::run(magis_steps);
}
