/*
 * Overlap - whether threads of Java compute on two CPUs at once, and while another thread reads.
 *
 * java -cp /bin/bench.jar Overlap compute THREADS ROUNDS   each thread computes; real_ns: until all have ended
 * java -cp /bin/bench.jar Overlap read ROUNDS              a thread reads the standard input up to its end,
 *                                                          beside one that computes; read_ns, compute_ns: from the
 *                                                          start of both until each has ended
 *
 * The standard input is a pipe into which a process writes nothing for a while.
 */

import java.io.IOException;

public class Overlap extends Thread {
    static int rounds;

    final boolean reads;
    long ended, sum;

    Overlap(boolean reads) {
        this.reads = reads;
    }

    public void run() {
        try {
            while (reads && System.in.read() >= 0)
                sum++;
        } catch (IOException e) {
            throw new IllegalStateException(e.toString());
        }
        for (int i = 0; !reads && i < rounds; i++)
            sum += i;
        ended = System.nanoTime();
    }

    static void check(Overlap thread) {
        long expected = thread.reads ? 0 : (long) rounds * (rounds - 1) / 2;

        if (thread.sum != expected)
            throw new IllegalStateException(thread.sum + " in the place of " + expected);
    }

    static void compute(int n) throws InterruptedException {
        Overlap[] threads = new Overlap[n];
        long began = System.nanoTime();

        for (int i = 0; i < n; i++) {
            threads[i] = new Overlap(false);
            threads[i].start();
        }
        for (Overlap thread : threads)
            thread.join();
        System.out.println("result threads=" + n + " real_ns=" + (System.nanoTime() - began));
        for (Overlap thread : threads)
            check(thread);
    }

    static void read() throws InterruptedException {
        Overlap reader = new Overlap(true), computer = new Overlap(false);
        long began = System.nanoTime();

        reader.start();
        computer.start();
        reader.join();
        computer.join();
        System.out.println("result read_ns=" + (reader.ended - began) + " compute_ns=" + (computer.ended - began));
        check(reader);
        check(computer);
    }

    public static void main(String[] args) throws InterruptedException {
        if (args.length == 3 && args[0].equals("compute")) {
            rounds = Integer.parseInt(args[2]);
            compute(Integer.parseInt(args[1]));
        } else if (args.length == 2 && args[0].equals("read")) {
            rounds = Integer.parseInt(args[1]);
            read();
        } else {
            System.err.println("usage: Overlap compute THREADS ROUNDS | Overlap read ROUNDS");
            System.exit(2);
        }
    }
}
