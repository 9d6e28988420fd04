// What has happened in one run.  changes.py says what blocks and changes are.
import {Column, Counts, Level, Sum, Track, last} from "./columns.js";
import {CPU, LWP, THREAD} from "./states.js";

const CHANGE = 24; // bytes
export const THREAD_IS = 1, LWP_IS = 2, CPU_IS = 3, QUEUE_IS = 4, WOKEN = 5, NOTE = 6, OWNER_IS = 7, STACK = 8;
export const NONE = -1;

export class Store {
	constructor() {
		this.title = "";
		this.facts = {}; // what definitions say of the run
		this.threads = []; // {id, process, name, track}
		this.lwps = [];
		this.cpus = [];
		this.queues = [];
		this.texts = [];
		this.owners = new Map(); // number of a text: Track whose x is the thread
		this.counts = new Counts(THREAD.length);
		this.waiting = new Level(); // LWPs on all run queues
		this.spent = new Sum(); // instructions that the monitor has taken
		this.wakes = {t: new Column(Float64Array), woken: new Column(Int32Array), waker: new Column(Int32Array),
			cause: new Column(Int32Array), isThread: new Column(Uint8Array), cpu: new Column(Uint16Array)};
		this.notes = {t: new Column(Float64Array), text: new Column(Int32Array), lwp: new Column(Int32Array),
			thread: new Column(Int32Array), cpu: new Column(Uint16Array)};
		this._chunks = []; // {first: number of its first change, n, view, t: its first time}
		this.n = 0; // changes
		this.begin = NaN;
		this.end = 0; // the last time of which all is known
		this.over = false;
		this.hasStacks = false;
		this.version = 0; // grows when the names or numbers of objects change
	}

	define(what) {
		for (const [id, pid, number, name] of what.threads ?? [])
			this._define(this.threads, id, `${number}`, pid, name, THREAD);
		for (const [id, pid, number, name] of what.lwps ?? [])
			this._define(this.lwps, id, `${pid}/${number}`, pid, name, LWP);
		for (const [t, instructions] of what.costs ?? [])
			this.spent.push(t, instructions);
		for (const [id, text] of what.texts ?? [])
			this.texts[id] = text;
		for (let id = this.cpus.length; id < (what.cpus ?? 0); id++) {
			this.cpus.push({id, label: `CPU ${id}`, name: "", pid: 0, track: new Track(CPU.length)});
			this.queues.push(new Level());
		}
		if (what.facts)
			Object.assign(this.facts, what.facts);
		if (what.title !== undefined)
			this.title = what.title;
		if (what.now !== undefined)
			this.end = Math.max(this.end, what.now);
		this.over ||= Boolean(what.over);
		this.version++;
	}

	_define(all, id, label, pid, name, states) {
		all[id] ??= {id, label, pid, name, track: new Track(states.length)};
		all[id].name = name;
	}

	changes(buffer) {
		const view = new DataView(buffer), n = buffer.byteLength / CHANGE;
		if (n == 0)
			return;
		this._chunks.push({first: this.n, n, view, t: view.getFloat64(0, true)});
		if (this.n == 0)
			this.begin = view.getFloat64(0, true);
		for (let i = 0; i < n; i++)
			this._change(read(view, i));
		this.n += n;
		this.end = Math.max(this.end, view.getFloat64((n - 1) * CHANGE, true));
	}

	_change(one) {
		const {t, kind, state, cpu, a, b, c} = one;
		switch (kind) {
		case THREAD_IS: {
			const track = this.threads[a].track, n = track.t.n;
			this.counts.push(t, n == 0 ? 0 : track.s.a[n - 1], state);
			track.push(t, state, b, c);
			break;
		}
		case LWP_IS:
			this.lwps[a].track.push(t, state, b, c);
			break;
		case CPU_IS:
			this.cpus[cpu].track.push(t, state, a, NONE);
			break;
		case QUEUE_IS: {
			const queue = this.queues[cpu], n = queue.v.n, all = this.waiting;
			const before = n == 0 ? 0 : queue.v.a[n - 1];
			queue.push(t, a);
			all.push(t, (all.v.n == 0 ? 0 : all.v.a[all.v.n - 1]) + a - before);
			break;
		}
		case WOKEN: {
			const object = (state ? this.threads : this.lwps)[a], {wakes} = this;
			object.track.wakes ??= new Column(Int32Array, 8);
			object.track.wakes.push(wakes.t.n);
			wakes.t.push(t);
			wakes.woken.push(a);
			wakes.waker.push(b);
			wakes.cause.push(c);
			wakes.isThread.push(state);
			wakes.cpu.push(cpu);
			break;
		}
		case NOTE:
			this.notes.t.push(t);
			this.notes.lwp.push(a);
			this.notes.thread.push(b);
			this.notes.text.push(c);
			this.notes.cpu.push(cpu);
			break;
		case OWNER_IS:
			if (!this.owners.has(a))
				this.owners.set(a, new Track(2));
			this.owners.get(a).push(t, b == NONE ? 0 : 1, b, NONE);
			break;
		case STACK: {
			const {track} = (state ? this.threads : this.lwps)[a];
			track.stacks ??= {t: new Column(Float64Array, 8), text: new Column(Int32Array, 8)};
			track.stacks.t.push(t);
			track.stacks.text.push(c);
			this.hasStacks = true;
		}
		}
	}

	// What the monitor has taken of a CPU from a to b, in percent.
	monitorShare(a, b) {
		const instructions = (this.facts.mips ?? 1000) / 1000; // of a CPU in a nanosecond
		return 100 * this.spent.mean(a, b) / instructions;
	}

	// The change with a number.
	change(number) {
		let low = 0, high = this._chunks.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this._chunks[middle].first <= number)
				low = middle + 1;
			else
				high = middle;
		}
		const chunk = this._chunks[low - 1];
		return read(chunk.view, number - chunk.first);
	}

	// The number of the last change at or before t, or -1.
	before(t) {
		let low = 0, high = this.n;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.change(middle).t <= t)
				low = middle + 1;
			else
				high = middle;
		}
		return low - 1;
	}

	// The time of the next event after t, or of the last one before t; undefined: there is none.
	nextTime(t) {
		const number = this.before(t) + 1;
		return number < this.n ? this.change(number).t : undefined;
	}

	previousTime(t) {
		const number = this.before(t);
		if (number < 0)
			return undefined;
		const at = this.change(number).t;
		if (at < t)
			return at;
		let i = number;
		while (i >= 0 && this.change(i).t == t)
			i--;
		return i < 0 ? undefined : this.change(i).t;
	}

	// The thread that owns the object with this text at t, or -1.
	ownerOf(text, t) {
		const track = this.owners.get(text), i = track ? track.at(t) : -1;
		return i < 0 ? NONE : track.x.a[i];
	}

	// The last wake-up of a thread or LWP at or before t, or null.
	wakeOf(object, t) {
		const mine = object.track.wakes;
		if (!mine)
			return null;
		const i = last(mine, last(this.wakes.t, t));
		return i < 0 ? null : this.wake(mine.a[i]);
	}

	// The stack with which a thread or LWP has left last at or before t, and when; or null.
	stackOf(object, t) {
		const {stacks} = object.track, i = stacks ? last(stacks.t, t) : -1;
		return i < 0 ? null : {t: stacks.t.a[i], calls: this.texts[stacks.text.a[i]].split("\n")};
	}

	wake(i) {
		const {wakes} = this, isThread = wakes.isThread.a[i];
		const all = isThread ? this.threads : this.lwps;
		return {t: wakes.t.a[i], woken: all[wakes.woken.a[i]], waker: all[wakes.waker.a[i]] ?? null,
			cause: this.texts[wakes.cause.a[i]] ?? "", isThread: Boolean(isThread)};
	}

	// The thread that an LWP runs at t, or null: threads say which LWP they are on, and not the reverse.
	threadsOn(t) {
		const on = new Map();
		for (const thread of this.threads) {
			if (!thread)
				continue;
			const i = thread.track.at(t);
			if (i >= 0 && thread.track.x.a[i] != NONE && thread.track.s.a[i] != 0)
				on.set(thread.track.x.a[i], thread);
		}
		return on;
	}
}

function read(view, i) {
	const at = i * CHANGE;
	return {t: view.getFloat64(at, true), kind: view.getUint8(at + 8), state: view.getUint8(at + 9),
		cpu: view.getUint16(at + 10, true), a: view.getInt32(at + 12, true), b: view.getInt32(at + 16, true),
		c: view.getInt32(at + 20, true)};
}
