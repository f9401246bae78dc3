// The answer bar. It reports which key was pressed for which presentation and shows what the server says;
// item texts never pass through it, and the server checks again all that is checked here.

const CALM = 300; // ms that an item must have been painted, and no key refused, before a key counts
const PATIENCE = 8000; // ms after which a report without a reply counts as lost
const HINT_TIME = 4000;
const TOO_QUICK = "Too quick: that press did not count.";
const UNHEARD = "That key did not arrive. Press again.";
const NO_REPLY = "No reply yet. Press again; it counts once.";
const NO_CONNECTION = "No connection: not saved. Wait, then press again.";
const TOOLS = { s: "skip", n: "note", u: "undo", "?": "keys" };
const TOOL_WORDS = { s: "Skip, with a reason", n: "Write a note", u: "Undo the last answer", "?": "This list" };

export default function (component) {
  const root = component.parentElement;
  root.answerBar ??= new AnswerBar(root);
  root.answerBar.update(component.data, component.setTriggerValue);
  return () => {
    root.answerBar.leave();
    delete root.answerBar;
  };
}

class AnswerBar {
  constructor(root) {
    this.find = (selector) => root.querySelector(selector);
    this.shown = null;
    this.painted = Infinity;
    this.refused = 0;
    this.waiting = 0;
    this.pending = "";
    this.next = null;
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    for (const button of root.querySelectorAll("[data-act]")) {
      button.addEventListener("click", () => this.tool(button.dataset.act));
    }
    for (const dialog of root.querySelectorAll("dialog")) this.prepare(dialog);
    this.find("form.other").addEventListener("submit", (event) => this.otherReason(event));
    this.find("dialog.skip").addEventListener("keydown", (event) => this.reasonKey(event));
  }

  leave() {
    document.removeEventListener("keydown", this.onKey);
    clearTimeout(this.waiting);
  }

  // Keys typed in a dialog stay in it: neither this bar's keys nor the host's own may see them.
  prepare(dialog) {
    for (const name of ["keydown", "keyup", "keypress"]) {
      dialog.addEventListener(name, (event) => event.stopPropagation());
    }
    // The browser's own Esc closes later, and the next key would still land in the dialog.
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.preventDefault();
      this.shut(dialog);
    });
    // A browser may close it without that key, as with the gesture for "back" on a phone.
    dialog.addEventListener("cancel", () => this.shut(dialog));
    dialog.querySelector(".close").addEventListener("click", () => this.shut(dialog));
    dialog.addEventListener("click", (event) => event.target === dialog && this.shut(dialog));
  }

  // The note is kept here and not on the event "close", which comes later: the next key's answer could go
  // before it, without the note, or the next item be in view, which would then get the note.
  shut(dialog) {
    if (!dialog.open) return;
    dialog.close();
    // Where nothing had the focus before, it stays in the closed dialog until the next frame: a key that
    // comes earlier, as on a busy machine, would be lost there without a word.
    const focused = dialog.getRootNode().activeElement;
    if (dialog.contains(focused)) focused.blur();
    if (dialog.matches(".note")) this.keepNote();
  }

  update(data, send) {
    const again = data.run === this.data?.run;
    this.data = data;
    this.send = send;
    if (again) return; // only the theme changed
    // An answer leads to something new in view or to a hint; else the app has just come back without it.
    const unheard = this.waiting && this.pending !== "note" && data.shown === this.shown && !data.hint;
    clearTimeout(this.waiting);
    this.waiting = 0;
    if (data.shown !== this.shown) this.newItem();
    this.drawAnswers();
    this.drawReasons();
    this.drawStatus();
    if (data.hint || unheard) this.hint(data.hint || UNHEARD);
    this.sendNext();
  }

  // An answer that came while the note before it was under way goes now, if its item is still in view.
  sendNext() {
    const next = this.next;
    this.next = null;
    if (next?.shown === this.shown) this.post(next);
    else if (next) this.hint(UNHEARD);
  }

  newItem() {
    // First, so that a note still open is kept for the item that it was written about.
    for (const name of ["skip", "note", "keys"]) this.shut(this.find(`dialog.${name}`));
    this.shown = this.data.shown;
    this.painted = Infinity;
    this.note = this.data.note;
    this.find(".bar").dataset.ready = "";
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 });
    this.watch(this.shown);
  }

  // An item counts as in view two frames after its texts are in the page.
  watch(shown) {
    if (shown !== this.shown) return;
    const there = document.querySelector(`[data-shown="${CSS.escape(shown)}"]`);
    requestAnimationFrame(() => {
      if (!there) return this.watch(shown);
      requestAnimationFrame(() => {
        if (shown !== this.shown) return;
        this.painted = performance.now();
        this.markReady(shown);
      });
    });
  }

  // For tests and for whoever drives the page by a program: the moment from which a key counts.
  markReady(shown) {
    if (shown !== this.shown) return;
    if (this.calm()) this.find(".bar").dataset.ready = shown;
    else setTimeout(() => this.markReady(shown), 50);
  }

  calm() {
    return performance.now() - Math.max(this.painted, this.refused) >= CALM;
  }

  refuse(hint) {
    this.refused = performance.now();
    if (hint) this.hint(hint);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
    if (isTyping(event.composedPath()[0]) || document.querySelector("[role=dialog]")) return;
    const answer = this.data.answers.find((one) => one.key === event.key);
    const tool = TOOLS[event.key];
    if (!answer && !tool) return;
    event.preventDefault();
    if (event.repeat) return this.refuse();
    if (answer) this.answer(answer.choice);
    else this.tool(tool);
  }

  tool(name) {
    const itemOnly = name === "skip" || name === "note";
    if (itemOnly && !this.data.answers.length) return;
    if (name === "undo") return this.report({ event: "undo" });
    if (itemOnly && (this.busy() || !this.calm())) return this.refuse(TOO_QUICK);
    const dialog = this.find(`dialog.${name}`);
    if (name === "note") dialog.querySelector("textarea").value = this.note;
    if (name === "skip") dialog.querySelector("input").value = "";
    dialog.showModal();
    if (name === "skip") dialog.querySelector(".reasons button").focus();
  }

  answer(choice) {
    if (!this.report({ event: "answer", choice })) return;
    this.find(`[data-choice="${choice}"]`).classList.add("pressed");
  }

  skip(reason) {
    this.shut(this.find("dialog.skip"));
    if (reason.trim()) this.report({ event: "skip", reason: reason.trim() });
  }

  otherReason(event) {
    event.preventDefault();
    const input = this.find("form.other input");
    if (input.value.trim()) this.skip(input.value);
    else input.focus();
  }

  reasonKey(event) {
    if (isTyping(event.composedPath()[0]) || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    const reason = this.data.reasons[Number(event.key) - 1];
    if (!reason) return;
    event.preventDefault();
    this.skip(reason);
  }

  keepNote() {
    const typed = this.find("dialog.note textarea").value.trim();
    if (typed === this.note) return;
    this.note = typed;
    this.drawNoteMark();
    this.post({ shown: this.shown, event: "note", note: typed });
  }

  // A note that is under way keeps nobody waiting; anything else must be answered first.
  busy() {
    return Boolean(this.next || (this.waiting && this.pending !== "note"));
  }

  report(act) {
    if (this.busy() || !this.calm()) {
      this.refuse(TOO_QUICK);
      return false;
    }
    if (!connected()) {
      this.refuse(NO_CONNECTION);
      return false;
    }
    const seconds = (performance.now() - this.painted) / 1000;
    const full = { shown: this.shown, ...act, note: this.note, seconds };
    if (this.waiting) this.next = full;
    else this.post(full);
    return true;
  }

  post(act) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.lost(), PATIENCE);
    this.pending = act.event;
    this.send("act", act);
  }

  lost() {
    this.waiting = 0;
    this.next = null;
    this.drawAnswers();
    this.hint(NO_REPLY);
  }

  drawAnswers() {
    this.drawNoteMark();
    const row = this.find(".answers");
    const choices = this.data.answers.map((one) => one.choice).join();
    for (const button of row.children) button.classList.remove("pressed");
    for (const name of ["skip", "note"]) this.find(`[data-act=${name}]`).hidden = !choices;
    if (row.dataset.choices === choices) return; // the same buttons stay, and with them the focus
    row.dataset.choices = choices;
    row.replaceChildren(
      ...this.data.answers.map((one) => {
        const button = keyed(one.word, one.key);
        button.ariaLabel = one.says;
        button.dataset.choice = one.choice;
        button.addEventListener("click", (event) => event.detail < 2 && this.answer(one.choice));
        return button;
      }),
    );
    this.drawKeys();
  }

  drawReasons() {
    const row = this.find(".reasons");
    if (row.children.length) return;
    this.data.reasons.forEach((reason, place) => {
      const button = keyed(reason, String(place + 1));
      button.addEventListener("click", () => this.skip(reason));
      row.append(button);
    });
  }

  drawKeys() {
    const answers = this.data.answers.map((one) => [one.key, one.says]);
    const rows = [...answers, ...Object.entries(TOOL_WORDS)].flatMap(([key, word]) => {
      const name = document.createElement("dt");
      const meaning = document.createElement("dd");
      name.append(badge(key));
      meaning.textContent = word;
      return [name, meaning];
    });
    this.find("dialog.keys dl").replaceChildren(...rows);
  }

  drawNoteMark() {
    this.find("[data-act=note]").classList.toggle("has", Boolean(this.note));
  }

  drawStatus() {
    const { done, total, saved_at: savedAt } = this.data;
    this.find("progress").max = total || 1;
    this.find("progress").value = done;
    this.find(".status").textContent = `${done} of ${total}` + (savedAt ? ` · saved ${localTime(savedAt)}` : "");
  }

  hint(text) {
    const place = this.find(".hint");
    clearTimeout(this.hintTimer);
    place.textContent = text;
    if (text) this.hintTimer = setTimeout(() => (place.textContent = ""), HINT_TIME);
  }
}

function keyed(word, key) {
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("aria-keyshortcuts", key);
  button.append(word, badge(key, { hidden: true }));
  return button;
}

function badge(key, { hidden } = {}) {
  const mark = document.createElement("kbd");
  mark.textContent = key;
  if (hidden) mark.ariaHidden = "true"; // a screen reader has the key from the button itself
  return mark;
}

function isTyping(target) {
  if (!(target instanceof Element)) return false;
  const field = target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=button])");
  return field || target.isContentEditable;
}

// Without the host's mark of its connection, it is taken to be there: the server's reply decides anyway.
function connected() {
  const app = document.querySelector("[data-test-connection-state]");
  return !app || app.dataset.testConnectionState === "CONNECTED";
}

function localTime(iso) {
  const time = new Date(iso);
  const clock = time.toLocaleTimeString("en-GB");
  return time.toDateString() === new Date().toDateString() ? clock : `${time.toLocaleDateString("en-GB")}, ${clock}`;
}
