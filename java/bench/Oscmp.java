/*
 * Oscmp - integers, floating point and files: one after the other, at the same time, and under stress.
 *
 * java -cp /bin/bench.jar Oscmp [-n ITERATIONS] [-i INCREMENTS] [-e EQUATIONS] [-f COPIES] [-t COUNTERS] [-own] CASE
 *
 * The Java programs of D. Cirne's "Multithreading: An Extensive Study on Linux, OpenSolaris, and Windows", written from
 * their description; user/bench/oscmp.c has the C programs, the same cases, and the same results. The work:
 *
 * -i  increments of a counter, by adding 37 and subtracting 36 (100,000,000)
 * -e  values of exp(cos(sqrt(x^2 + y^2))), x = i / 1.1, y = i * 1.1, i from -10 to 10 (200,000)
 * -f  copies of a text of 35,146 bytes, line by line, in a new directory (100)
 *
 * An increment takes 23.6 ns in the paper's Java, and 0.08 ns in its C. Only boxed counters take so long: the counter, its
 * index and the temporary value are Long, and an increment makes three objects.
 *
 * Under stress -t threads (100) share the increments. The paper's text says that a single thread at a time increments the
 * counter: each thread enters the counter's monitor once, for its whole share, as in oscmp.c. With -own each thread has
 * a counter, and enters the monitor of its own object, as the paper's program did. No thread then excludes another.
 * A producer and a consumer hand each value over with wait and notify.
 *
 * -n iterations (100), each a line of results: iteration_ns, counter_ns, equation_ns, file_ns. They are checked. The
 * directory is removed after each iteration, which is not measured.
 */

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

public class Oscmp {
    static final String FOLDER = "/tmp/oscmp";
    static final File ORIGINAL = new File(FOLDER, "original"), COPIES = new File(FOLDER, "copies");
    static final int TEXT_SIZE = 35146, LINE = 72;

    static int iterations = 100, increments = 100000000, equations = 200000, copies = 100, counters = 100;
    static boolean own;

    static void fail(String problem) {
        throw new IllegalStateException(problem);
    }

    static double equation(int n) {
        double i = -10 + 20.0 * n / equations, x = i / 1.1, y = i * 1.1;

        return Math.exp(Math.cos(Math.sqrt(x * x + y * y)));
    }

    /* As many bytes of lines as the GPL has. The last line has no end. */
    static void writeOriginal() throws IOException {
        char[] text = new char[TEXT_SIZE];

        for (int i = 0; i < TEXT_SIZE; i++)
            text[i] = i % LINE == LINE - 1 ? '\n' : (char) ('a' + i / LINE % 26);
        new File(FOLDER).mkdir();
        try (FileWriter to = new FileWriter(ORIGINAL)) {
            to.write(text, 0, TEXT_SIZE);
        }
    }

    static void copy(File file) throws IOException {
        try (BufferedReader from = new BufferedReader(new FileReader(ORIGINAL));
             BufferedWriter to = new BufferedWriter(new FileWriter(file))) {
            String line = from.readLine();

            while (line != null) {
                to.write(line);
                line = from.readLine();
                if (line != null)
                    to.newLine();
            }
        }
    }

    static void checkCopy(File file) throws IOException {
        try (BufferedReader from = new BufferedReader(new FileReader(ORIGINAL));
             BufferedReader copied = new BufferedReader(new FileReader(file))) {
            if (file.length() != TEXT_SIZE)
                fail(file + " has " + file.length() + " bytes");
            for (String line = from.readLine(); line != null; line = from.readLine())
                if (!line.equals(copied.readLine()))
                    fail(file + " is not the text");
        }
    }

    static void run(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads)
            thread.start();
        for (Thread thread : threads)
            thread.join();
    }

    /* The increments that have been made. */
    static long linear(Span counter, Span equation, Span file) {
        Counter all = new Counter();

        new Count(counter, all, all, increments).run();
        new Calculate(equation).run();
        new Replicate(file).run();
        return all.made();
    }

    static long threads(Span counter, Span equation, Span file) throws InterruptedException {
        List<Thread> threads = new ArrayList<Thread>();
        Counter all = new Counter();

        threads.add(new Thread(new Count(counter, all, all, increments)));
        threads.add(new Thread(new Calculate(equation)));
        threads.add(new Thread(new Replicate(file)));
        run(threads);
        return all.made();
    }

    static long stress(Span counter, Span equation, Span file) throws InterruptedException {
        List<Thread> threads = new ArrayList<Thread>();
        List<Count> counts = new ArrayList<Count>();
        Counter all = new Counter();
        Pair pair = new Pair();
        long made = 0;

        for (int i = 0; i < counters; i++) {
            Counter mine = own ? new Counter() : all;

            counts.add(new Count(counter, mine, mine, increments / counters));
            threads.add(new Thread(counts.get(i)));
        }
        threads.add(new Thread(new Produce(equation, pair)));
        threads.add(new Thread(new Consume(equation, pair)));
        threads.add(new Thread(new Replicate(file)));
        run(threads);
        for (Count count : counts)
            made += count.counter.made();
        return own ? made : all.made();
    }

    static void iterate(int n, String which) throws IOException, InterruptedException {
        Span counter = new Span(), equation = new Span(), file = new Span();
        long began = System.nanoTime(), ended, made;

        if (which.equals("linear"))
            made = linear(counter, equation, file);
        else if (which.equals("threads"))
            made = threads(counter, equation, file);
        else
            made = stress(counter, equation, file);
        ended = System.nanoTime();
        if (made != increments)
            fail("the counter is " + made + " after " + increments + " increments");
        if (!(equation.sum > equations / 2.7183 && equation.sum < equations * 2.7183))
            fail("the sum of " + equations + " values is " + equation.sum);
        checkCopy(new File(COPIES, "" + (copies - 1)));
        System.out.println("result case=" + which + " iteration=" + n + " iteration_ns=" + (ended - began) + " counter_ns="
                + counter.length() + " equation_ns=" + equation.length() + " file_ns=" + file.length());
        for (int i = 0; i < copies; i++)
            new File(COPIES, "" + i).delete();
        if (!COPIES.delete())
            fail(COPIES + " is not empty");
    }

    static void usage() {
        System.err.println("usage: Oscmp [-n ITERATIONS] [-i INCREMENTS] [-e EQUATIONS] [-f COPIES] [-t COUNTERS] [-own]\n"
                + "             linear|threads|stress");
        System.exit(2);
    }

    static void option(String name, int value) {
        if (value < 1)
            usage();
        switch (name) {
        case "-n":
            iterations = value;
            break;
        case "-i":
            increments = value;
            break;
        case "-e":
            equations = value;
            break;
        case "-f":
            copies = value;
            break;
        case "-t":
            counters = value;
            break;
        default:
            usage();
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int last = args.length - 1;

        for (int i = 0; i < last; i++) {
            if (args[i].equals("-own"))
                own = true;
            else if (i + 1 < last)
                option(args[i], Integer.parseInt(args[++i]));
            else
                usage();
        }
        if (last < 0 || !(args[last].equals("linear") || args[last].equals("threads") || args[last].equals("stress")))
            usage();
        increments -= increments % counters;
        writeOriginal();
        for (int n = 0; n < iterations; n++)
            iterate(n, args[last]);
    }
}

/* One of the three kinds of work: when its first thread began, and its last one ended. */
class Span {
    private long began, ended;
    double sum; /* of the values that one thread has calculated or consumed */

    synchronized void begin() {
        if (began == 0)
            began = System.nanoTime();
    }

    synchronized void end() {
        ended = System.nanoTime();
    }

    synchronized long length() {
        return ended - began;
    }
}

/* Numbers below 128 would come from the cache of Long, and make no object: so counter and index begin with FIRST. */
class Counter {
    static final Long FIRST = 1000L;

    Long value = FIRST;

    long made() {
        return value - FIRST;
    }
}

class Count implements Runnable {
    final Span span;
    final Counter counter;
    final Object lock;
    final int share;

    Count(Span span, Counter counter, Object lock, int share) {
        this.span = span;
        this.counter = counter;
        this.lock = lock;
        this.share = share;
    }

    public void run() {
        Long last = Counter.FIRST + share;

        span.begin();
        synchronized (lock) {
            for (Long i = Counter.FIRST; i < last; i++) {
                Long temp = counter.value;

                temp = temp + 37;
                temp = temp - 36;
                counter.value = temp;
            }
        }
        span.end();
    }
}

class Calculate implements Runnable {
    final Span span;

    Calculate(Span span) {
        this.span = span;
    }

    public void run() {
        span.begin();
        for (int i = 0; i < Oscmp.equations; i++)
            span.sum += Oscmp.equation(i);
        span.end();
    }
}

class Replicate implements Runnable {
    final Span span;

    Replicate(Span span) {
        this.span = span;
    }

    public void run() {
        span.begin();
        try {
            if (!Oscmp.COPIES.mkdir())
                Oscmp.fail(Oscmp.COPIES + " exists");
            for (int i = 0; i < Oscmp.copies; i++)
                Oscmp.copy(new File(Oscmp.COPIES, "" + i));
        } catch (IOException e) {
            throw new IllegalStateException(e.toString());
        }
        span.end();
    }
}

/* One value on its way from the producer to the consumer. */
class Pair {
    private double value;
    private boolean full;

    synchronized void put(double next) throws InterruptedException {
        while (full)
            wait();
        value = next;
        full = true;
        notify();
    }

    synchronized double take() throws InterruptedException {
        while (!full)
            wait();
        full = false;
        notify();
        return value;
    }
}

class Produce implements Runnable {
    final Span span;
    final Pair pair;

    Produce(Span span, Pair pair) {
        this.span = span;
        this.pair = pair;
    }

    public void run() {
        span.begin();
        try {
            for (int i = 0; i < Oscmp.equations; i++)
                pair.put(Oscmp.equation(i));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e.toString());
        }
    }
}

class Consume implements Runnable {
    final Span span;
    final Pair pair;

    Consume(Span span, Pair pair) {
        this.span = span;
        this.pair = pair;
    }

    public void run() {
        try {
            for (int i = 0; i < Oscmp.equations; i++)
                span.sum += pair.take();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e.toString());
        }
        span.end();
    }
}
