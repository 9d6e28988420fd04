// What is known of the chosen thread, LWP or CPU at the cursor, in words; and what happened there last.
import {lived} from "./rows.js";
import {KINDS} from "./states.js";
import {CPU_IS, LWP_IS, NONE, NOTE, OWNER_IS, QUEUE_IS, STACK, THREAD_IS, WOKEN} from "./store.js";
import {exactly, said} from "./time.js";

const EVENTS = 9;
const SYSTEM = 5; // of LWP: from here on it has a CPU

function element(name, text, className) {
	const made = document.createElement(name);
	if (text !== undefined)
		made.textContent = text;
	if (className)
		made.className = className;
	return made;
}

export class Details {
	// ask(run, object): gets a backtrace; null: the guest is not there.
	constructor(page, run, ask) {
		this.page = page;
		this.run = run;
		this.ask = ask;
		this.root = element("div", undefined, "details");
		this.facts = this.root.appendChild(element("div"));
		this.button = this.root.appendChild(element("button", "Backtrace"));
		this.button.type = "button";
		this.button.addEventListener("click", () => this.backtrace());
		this.trace = this.root.appendChild(element("pre"));
		this.trace.hidden = true;
		this.root.append(element("h2", "Events up to the cursor"));
		this.events = this.root.appendChild(element("ol"));
		this._shown = "";
		this._listed = "";
	}

	// What is chosen, if it is of this run.
	get chosen() {
		const {chosen} = this.page;
		return chosen?.run == this.run ? chosen : null;
	}

	draw() {
		const {chosen, page: {time}} = this;
		this._listEvents(time.now);
		this.button.hidden = !chosen || !this._hasStack(chosen);
		this.button.title = chosen && this._asks() ? "Stops the guest for a moment and reads its memory" : "As recorded";
		if (!chosen) {
			this._show("none", [["", "Click on a row or a box, or search (/)."]]);
			return;
		}
		if (!this.trace.hidden && this._follows)
			this.backtrace();
		const now = Math.min(time.now, chosen.run.store.end);
		const rows = {thread: threadRows, lwp: lwpRows, cpu: cpuRows}[chosen.kind](chosen.run.store, chosen.object, now);
		rows.push(["time", shares(chosen, this.page.window(chosen.run))]);
		this._show(chosen.object, rows);
	}

	_show(what, rows) {
		const text = rows.map(row => row.join("\t")).join("\n");
		if (this._shown == text)
			return;
		this._shown = text;
		if (this._of != what) {
			this._of = what;
			this.trace.hidden = true;
		}
		const list = element("dl");
		for (const [name, value] of rows)
			list.append(element("dt", name), element("dd", value));
		this.facts.replaceChildren(list);
	}

	// Is the guest asked?  If it runs, and stands at the cursor; and where the recording has no stacks.
	_asks() {
		const {kind, run: {store}} = this.chosen;
		return Boolean(this.ask && kind == "thread" && !store.over && (this.page.time.live || !store.hasStacks));
	}

	_hasStack({kind, run: {store}}) {
		return kind != "cpu" && (store.hasStacks || store.facts.repeats || this._asks());
	}

	// Of the chosen thread or LWP: from the guest, or as recorded.
	backtrace() {
		const {chosen} = this;
		if (!chosen || !this._hasStack(chosen))
			return;
		if (this._asks())
			this._ask(chosen);
		else
			this._tell(recorded(chosen, this.page.time.now), true);
	}

	// A row or a box has been clicked.  The guest is not asked about a time that is over.
	clicked() {
		if (this.page.time.live || this.run.store.hasStacks)
			this.backtrace();
	}

	// follows: the text is about the cursor, and changes with it.
	_tell(text, follows = false) {
		if (this.trace.textContent != text)
			this.trace.textContent = text;
		if (this.trace.hidden) {
			this.trace.hidden = false;
			this.button.scrollIntoView({block: "nearest"});
		}
		this._follows = follows;
		this._of = this.chosen.object;
	}

	async _ask(chosen) {
		this.button.disabled = true;
		const text = await this.ask(chosen.run, chosen.object).catch(error => String(error.message));
		if (this._of == chosen.object)
			this._tell(text);
		this.button.disabled = false;
	}

	_listEvents(now) {
		const {store} = this.run, found = [];
		for (let i = store.before(now); i >= 0 && found.length < EVENTS; i--) {
			const one = store.change(i);
			if (one.kind != STACK)
				found.push(one);
		}
		const lines = found.map(one => `${exactly(one.t)}  ${told(store, one)}`);
		const text = lines.join("\n");
		if (text == this._listed)
			return;
		this._listed = text;
		this.events.replaceChildren(...lines.map((line, i) =>
			element("li", line, found[i].t == found[0].t ? "last" : undefined)));
	}
}

// Does a thread or LWP have a CPU?
function isRunning(store, object, now) {
	const {track} = object, i = track.at(now), isThread = store.threads[object.id] == object;
	if (i < 0 || !isThread)
		return i >= 0 && track.s.a[i] >= SYSTEM;
	return track.x.a[i] != NONE && isRunning(store, store.lwps[track.x.a[i]], now);
}

// The stack of a thread or LWP at a time.  One that runs has that with which it last left, and GDB shows the rest.
export function recorded({kind, object, run: {store}}, time) {
	const now = Math.min(time, store.end);
	const one = (kind == "lwp" ? store.threadsOn(now).get(object.id) : null) ?? object;
	const stack = store.stackOf(one, now), said = [];
	if (store.hasStacks && isRunning(store, one, now))
		said.push(stack ? `It runs. Its stack ${exactly(now - stack.t)} ago, when it last left:` : "It runs, and has not left before.");
	else if (store.hasStacks && !stack)
		said.push("It has not run yet.");
	if (stack)
		said.push(stack.calls.map((call, i) => `#${`${i}`.padEnd(3)}${call}`).join("\n"));
	if (store.facts.repeats)
		said.push(repeated(store, now));
	return said.join("\n\n");
}

// The command that brings a run of exact timing to a time again, under GDB.
function repeated({facts, title}, now) {
	const time = facts.begin + Math.round(now), again = facts.again ?? title;
	return "GDB goes to this moment of the same run:\n" +
		`tools/weft gdb --reverse --at ${time} ${again}\n(gdb) thread apply all backtrace`;
}

function name(object) {
	return object ? `${object.label} ${object.name}`.trim() : "none";
}

function since(store, object, kind, now) {
	const {track} = object, i = track.at(now);
	if (i < 0)
		return ["state", "not yet begun"];
	const [word, , meaning] = KINDS[kind][track.s.a[i]];
	return ["state", `${word} for ${said(now - track.t.a[i])}: ${meaning}`];
}

function wakeRow(store, object, now) {
	const wake = store.wakeOf(object, now);
	if (!wake)
		return [];
	const by = wake.waker ? `${wake.isThread ? "thread" : "LWP"} ${name(wake.waker)}` : "no LWP";
	return [["woken by", `${by}${wake.cause ? ` (${wake.cause})` : ""}, ${said(now - wake.t)} ago`]];
}

function threadRows(store, thread, now) {
	const {track} = thread, i = track.at(now), rows = [["thread", name(thread)], since(store, thread, "thread", now)];
	if (i >= 0 && track.x.a[i] != NONE)
		rows.push(["LWP", name(store.lwps[track.x.a[i]])]);
	if (i >= 0 && track.y.a[i] != NONE) {
		const text = track.y.a[i], owner = store.threads[store.ownerOf(text, now)];
		rows.push(["waits for", store.texts[text]]);
		if (owner)
			rows.push(["held by", `thread ${name(owner)}`]);
	}
	return [...rows, ...wakeRow(store, thread, now)];
}

function lwpRows(store, lwp, now) {
	const {track} = lwp, i = track.at(now), rows = [["LWP", name(lwp)], since(store, lwp, "lwp", now)];
	const thread = store.threadsOn(now).get(lwp.id);
	if (thread)
		rows.push(["thread", name(thread)]);
	if (i >= 0 && track.x.a[i] != NONE)
		rows.push(["CPU", name(store.cpus[track.x.a[i]])]);
	if (i >= 0 && track.y.a[i] != NONE)
		rows.push(["in", store.texts[track.y.a[i]]]);
	return [...rows, ...wakeRow(store, lwp, now)];
}

function cpuRows(store, cpu, now) {
	const {track} = cpu, i = track.at(now), rows = [["CPU", `${cpu.id}`], since(store, cpu, "cpu", now)];
	if (i >= 0 && track.x.a[i] != NONE)
		rows.push(["LWP", name(store.lwps[track.x.a[i]])]);
	const queue = store.queues[cpu.id].at(now);
	rows.push(["run queue", `${queue} LWP${queue == 1 ? "" : "s"}`]);
	return rows;
}

function shares({kind, object}, [a, b]) {
	const states = KINDS[kind], out = object.track.times(a, b, new Float64Array(states.length));
	const parts = [], life = lived(out);
	for (let s = states.length - 1; s > 0; s--)
		if (out[s] > 0)
			parts.push(`${states[s][0]} ${(100 * out[s] / life).toFixed(1)} %`);
	return parts.join(", ") || "-";
}

// A change as a sentence.
export function told(store, {kind, state, cpu, a, b, c}) {
	const thread = number => `thread ${name(store.threads[number])}`, lwp = number => `LWP ${name(store.lwps[number])}`;
	const text = c == NONE ? "" : store.texts[c];
	switch (kind) {
	case THREAD_IS:
		return `${thread(a)}: ${KINDS.thread[state][0]}` +
			(b == NONE ? "" : `, ${lwp(b)}`) + (text ? `, for ${text}` : "");
	case LWP_IS:
		return `${lwp(a)}: ${KINDS.lwp[state][0]}` + (b == NONE ? "" : `, CPU ${b}`) + (text ? `, ${text}` : "");
	case CPU_IS:
		return `CPU ${cpu}: ${KINDS.cpu[state][0]}` + (a == NONE ? "" : `, ${lwp(a)}`);
	case QUEUE_IS:
		return `CPU ${cpu}: ${a} in the run queue`;
	case WOKEN:
		return `${state ? thread(b) : b == NONE ? text || "the kernel" : lwp(b)} wakes ${state ? thread(a) : lwp(a)}`;
	case NOTE:
		return text + (b == NONE ? a == NONE ? "" : `: ${lwp(a)}` : `: ${thread(b)}`);
	case OWNER_IS:
		return `${store.texts[a]}: ${b == NONE ? "free" : `held by ${thread(b)}`}`;
	}
	return "";
}
