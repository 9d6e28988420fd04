// What is known of the chosen thread, LWP or CPU at the cursor, in words; and what happened there last.
import {lived} from "./rows.js";
import {KINDS} from "./states.js";
import {CPU_IS, LWP_IS, NONE, NOTE, OWNER_IS, QUEUE_IS, THREAD_IS, WOKEN} from "./store.js";
import {exactly, said} from "./time.js";

const EVENTS = 9;

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
	constructor(page, ask) {
		this.page = page;
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

	draw(run) {
		const {chosen, time} = this.page;
		this._listEvents(run, time.now);
		const runs = this._runs();
		this.button.hidden = chosen?.kind != "thread" || !(runs || chosen.run.store.facts.repeats);
		this.button.title = runs ? "Stops the guest for a moment and reads its memory" : "How to get it: the run repeats";
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

	_runs() {
		return Boolean(this.ask && !this.page.chosen?.run.store.over);
	}

	// Of the chosen thread: from the guest, or how to get it.
	backtrace() {
		const {chosen} = this.page;
		if (chosen?.kind != "thread")
			return;
		if (this._runs())
			this._ask(chosen);
		else if (chosen.run.store.facts.repeats)
			this._tell(repeated(chosen.run.store, this.page.time.now), true);
	}

	// A row or a box has been clicked: a guest that runs, and stands at the cursor, is asked.
	clicked() {
		if (this._runs() && this.page.time.live)
			this.backtrace();
	}

	// follows: the text is about the cursor, and changes with it.
	_tell(text, follows = false) {
		if (this.trace.textContent != text)
			this.trace.textContent = text;
		this.trace.hidden = false;
		this._follows = follows;
	}

	async _ask(chosen) {
		this.button.disabled = true;
		const text = await this.ask(chosen.run, chosen.object).catch(error => String(error.message));
		if (this._of == chosen.object)
			this._tell(text);
		this.button.disabled = false;
	}

	_listEvents(run, now) {
		const {store} = run, found = [];
		for (let i = store.before(now); i >= 0 && found.length < EVENTS; i--)
			found.push(store.change(i));
		const lines = found.map(one => `${exactly(one.t)}  ${told(store, one)}`);
		const text = lines.join("\n");
		if (text == this._listed)
			return;
		this._listed = text;
		this.events.replaceChildren(...lines.map((line, i) =>
			element("li", line, found[i].t == found[0].t ? "last" : undefined)));
	}
}

// The command that brings a run of exact timing to a time again, under GDB.
function repeated({facts, title, end}, now) {
	const time = facts.begin + Math.round(Math.min(now, end));
	return `No guest runs any more. GDB goes to this time of the same run:\n\n` +
		`tools/weft gdb --reverse --at ${time} ${title}\n(gdb) thread apply all backtrace`;
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
