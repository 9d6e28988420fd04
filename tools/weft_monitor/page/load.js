// Blocks of a recording, as they come, into a store.  changes.py says what a block is.

const MAGIC = "weft monitor 1\n";
const HEAD = 5;

async function inflated(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return await new Response(stream).arrayBuffer();
}

// Takes pieces of a recording, of any length.
export class Reader {
	constructor(store) {
		this._store = store;
		this._rest = new Uint8Array(0);
		this._begun = false;
	}

	async feed(piece) {
		let data = piece;
		if (this._rest.length > 0) {
			data = new Uint8Array(this._rest.length + piece.length);
			data.set(this._rest);
			data.set(piece, this._rest.length);
		}
		let at = 0;
		if (!this._begun && data.length >= MAGIC.length) {
			if (new TextDecoder().decode(data.subarray(0, MAGIC.length)) != MAGIC)
				throw new Error("this is no recording of weft monitor");
			this._begun = true;
			at = MAGIC.length;
		}
		while (this._begun && data.length - at >= HEAD) {
			const size = new DataView(data.buffer, data.byteOffset + at).getUint32(0, true);
			if (data.length - at - HEAD < size)
				break;
			const letter = String.fromCharCode(data[at + 4]);
			const block = await inflated(data.subarray(at + HEAD, at + HEAD + size));
			if (letter == "J")
				this._store.define(JSON.parse(new TextDecoder().decode(block)));
			else if (letter == "C")
				this._store.changes(block);
			at += HEAD + size;
		}
		this._rest = data.slice(at);
	}
}

// A recording that stands in the page, in base 64.
export async function fromText(text, store) {
	const letters = atob(text), bytes = new Uint8Array(letters.length);
	for (let i = 0; i < letters.length; i++)
		bytes[i] = letters.charCodeAt(i);
	await new Reader(store).feed(bytes);
	store.over = true;
}

// A recording that the server sends while it grows.  Ends when the recording does.
export async function fromServer(url, store) {
	const answer = await fetch(url);
	if (!answer.ok)
		throw new Error(`the server answers ${answer.status}`);
	const reader = new Reader(store), body = answer.body.getReader();
	for (;;) {
		const {done, value} = await body.read();
		if (done)
			break;
		await reader.feed(value);
	}
	store.over = true;
}
