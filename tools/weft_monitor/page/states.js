// The states of threads, LWPs and CPUs: words, colours, and the order in which they are stacked.
//
// The colours are those of Okabe and Ito, which colour-blind people tell apart.  A word stands beside each
// colour, so no colour is needed to understand the page.  changes.py has the same numbers.

const GREEN = "#009e73", ORANGE = "#e69f00", VERMILION = "#d55e00", BLUE = "#0072b2", SKY = "#56b4e9";
const PURPLE = "#cc79a7", YELLOW = "#f0e442", GREY = "#9aa0a6";

// Index: the number of the state.  [word, colour, what it means]; 0: the object does not exist.
export const THREAD = [
	["gone", "transparent", "it has not begun, or has ended"],
	["Stopped", PURPLE, "it is suspended"],
	["Blocked", BLUE, "it waits for another thread, or for time"],
	["Run queue", VERMILION, "it can run, and no LWP is free for it"],
	["Dispatchable", ORANGE, "an LWP has been found for it, and is on its way"],
	["On LWP", GREEN, "an LWP runs it; the LWP itself may wait"],
];
export const LWP = [
	["gone", "transparent", "it has not begun, or has ended"],
	["Stopped", PURPLE, "it is suspended, or has not started"],
	["Asleep", BLUE, "it sleeps in a system call"],
	["Parked", SKY, "it waits for a lock, or has no thread to run"],
	["Wait CPU", VERMILION, "it can run, and waits for a CPU"],
	["System", YELLOW, "it runs in the kernel"],
	["User", GREEN, "it runs in user mode"],
];
export const CPU = [
	["off", "transparent", "it has not started"],
	["Idle", GREY, "no LWP can run on it"],
	["Wait", SKY, "idle, and an LWP waits for a device"],
	["System", YELLOW, "it runs the kernel"],
	["User", GREEN, "it runs a program"],
];
export const KINDS = {thread: THREAD, lwp: LWP, cpu: CPU};
export const ON_LWP = 5, RUN_QUEUE = 3, DISPATCHABLE = 4, BLOCKED = 2;

// Black or white: what can be read on a colour.
export function inkOn(colour) {
	if (colour == "transparent")
		return "currentColor";
	const [r, g, b] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
	return 0.299 * r + 0.587 * g + 0.114 * b > 130 ? "#000" : "#fff";
}
