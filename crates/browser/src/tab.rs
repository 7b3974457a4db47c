//! One open page: what it looks like, what it said, and hands to use it.

use crate::pipe::{Browser, Error};
use base64::Engine;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;

/// How a page is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// The reader prefers dark colours.
    pub dark: bool,
    /// Scripts run.
    pub scripts: bool,
}

impl View {
    /// A laptop by day.
    pub const DESKTOP: Self = Self { width: 1280, height: 900, dark: false, scripts: true };
    /// A small phone.
    pub const PHONE: Self = Self { width: 360, height: 740, dark: false, scripts: true };
}

/// An open page.
#[derive(Debug)]
pub struct Tab<'a> {
    browser: &'a mut Browser,
    session: String,
    target: String,
}

impl<'a> Tab<'a> {
    pub(crate) fn open(browser: &'a mut Browser, page: &Path, view: View) -> Result<Self, Error> {
        let page = page.canonicalize()?;
        let target = browser.call(None, "Target.createTarget", json!({ "url": "about:blank" }))?;
        let target = text(&target, "targetId")?;
        let attached = json!({ "targetId": target, "flatten": true });
        let session = text(&browser.call(None, "Target.attachToTarget", attached)?, "sessionId")?;
        let mut tab = Self { browser, session, target };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}))?;
        }
        tab.call("Browser.setDownloadBehavior", json!({ "behavior": "deny" }))?;
        let View { width, height, dark, scripts } = view;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        tab.call("Emulation.setDeviceMetricsOverride", size)?;
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" }
        ]);
        tab.call("Emulation.setEmulatedMedia", json!({ "features": features }))?;
        tab.call("Emulation.setScriptExecutionDisabled", json!({ "value": !scripts }))?;
        tab.browser.events.clear();
        tab.call("Page.navigate", json!({ "url": file_url(&page) }))?;
        tab.browser.wait_for(&tab.session, "Page.loadEventFired")?;
        if scripts {
            tab.settle()?;
        }
        Ok(tab)
    }

    /// Two frames later everything that observes sizes has been told.
    pub fn settle(&mut self) -> Result<(), Error> {
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))",
        )
    }

    /// The value of an expression in the page.
    pub fn evaluate<T: DeserializeOwned>(&mut self, expression: &str) -> Result<T, Error> {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", params)?;
        if let Some(details) = answer.get("exceptionDetails") {
            return Err(Error::Script(exception(details)));
        }
        let value = answer["result"]["value"].take();
        serde_json::from_value(value).map_err(|error| Error::Answer(error.to_string()))
    }

    /// Moves the mouse.
    pub fn hover(&mut self, x: f64, y: f64) -> Result<(), Error> {
        self.mouse("mouseMoved", (x, y), 0, 0)
    }

    /// Clicks; `times` is 2 for a double click.
    pub fn click(&mut self, x: f64, y: f64, times: u32) -> Result<(), Error> {
        self.hover(x, y)?;
        for time in 1..=times {
            self.mouse("mousePressed", (x, y), 1, time)?;
            self.mouse("mouseReleased", (x, y), 0, time)?;
        }
        Ok(())
    }

    /// Drags the mouse.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) -> Result<(), Error> {
        self.hover(from.0, from.1)?;
        self.mouse("mousePressed", from, 1, 1)?;
        for share in [0.3, 0.7, 1.0] {
            let at = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            self.mouse("mouseMoved", at, 1, 0)?;
        }
        self.mouse("mouseReleased", to, 0, 1)
    }

    /// Taps with a finger.
    pub fn tap(&mut self, x: f64, y: f64) -> Result<(), Error> {
        let points = json!([{ "x": x, "y": y }]);
        self.call("Input.dispatchTouchEvent", json!({ "type": "touchStart", "touchPoints": points }))?;
        self.call("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] }))?;
        Ok(())
    }

    /// Presses a key by its name in the DOM: `ArrowRight`, `Escape`, `+`.
    pub fn key(&mut self, key: &str) -> Result<(), Error> {
        for kind in ["rawKeyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key }))?;
        }
        Ok(())
    }

    /// A PNG of what is visible, or of the whole page.
    pub fn screenshot(&mut self, whole: bool) -> Result<Vec<u8>, Error> {
        let mut params = json!({ "format": "png", "captureBeyondViewport": whole });
        if whole {
            let size: (f64, f64) = self.evaluate(
                "[document.scrollingElement.clientWidth, document.scrollingElement.scrollHeight]",
            )?;
            params["clip"] = json!({ "x": 0, "y": 0, "width": size.0, "height": size.1, "scale": 1 });
        }
        let answer = self.call("Page.captureScreenshot", params)?;
        decode(&answer)
    }

    /// The page as it would be printed.
    pub fn pdf(&mut self) -> Result<Vec<u8>, Error> {
        let answer = self.call(
            "Page.printToPDF",
            json!({ "printBackground": true, "paperWidth": 8.27, "paperHeight": 11.69 }),
        )?;
        decode(&answer)
    }

    /// Everything on the console, and errors that nobody caught.
    pub fn messages(&self) -> Vec<String> {
        let mine = self.browser.events.iter().filter(|event| event["sessionId"] == self.session);
        mine.filter_map(|event| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Runtime.consoleAPICalled" => Some(format!("console: {}", params["args"])),
                "Runtime.exceptionThrown" => {
                    Some(format!("uncaught: {}", exception(&params["exceptionDetails"])))
                }
                "Log.entryAdded" => Some(format!("log: {}", params["entry"]["text"])),
                _ => None,
            }
        })
        .collect()
    }

    /// Every address that the page asked for, except itself and what it carries.
    pub fn requests(&self) -> Vec<String> {
        let mine = self.browser.events.iter().filter(|event| event["sessionId"] == self.session);
        let asked = mine.filter(|event| event["method"] == "Network.requestWillBeSent");
        let urls = asked.filter(|event| {
            event["params"]["type"] != "Document"
                || event["params"]["documentURL"] != event["params"]["request"]["url"]
        });
        urls.filter_map(|event| event["params"]["request"]["url"].as_str())
            .filter(|url| !url.starts_with("data:") && !url.starts_with("blob:"))
            .map(str::to_owned)
            .collect()
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), buttons: u32, clicks: u32) -> Result<(), Error> {
        let button = if kind == "mouseMoved" && buttons == 0 { "none" } else { "left" };
        let params = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": clicks });
        self.call("Input.dispatchMouseEvent", params).map(|_| ())
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, Error> {
        let session = self.session.clone();
        self.browser.call(Some(&session), method, params)
    }
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        let _ = self.browser.call(None, "Target.closeTarget", json!({ "targetId": self.target }));
    }
}

fn file_url(path: &Path) -> String {
    let mut url = String::from("file://");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => url.push(byte as char),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

fn text(value: &Value, key: &str) -> Result<String, Error> {
    value[key].as_str().map(str::to_owned).ok_or_else(|| Error::Answer(value.to_string()))
}

fn exception(details: &Value) -> String {
    let thrown = details["exception"]["description"].as_str().or(details["text"].as_str());
    thrown.unwrap_or("unknown").to_owned()
}

fn decode(answer: &Value) -> Result<Vec<u8>, Error> {
    let data = text(answer, "data")?;
    base64::engine::general_purpose::STANDARD.decode(data).map_err(|error| Error::Answer(error.to_string()))
}
