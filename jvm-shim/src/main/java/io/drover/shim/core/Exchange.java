package io.drover.shim.core;

import java.io.IOException;
import java.net.URL;
import java.security.GeneralSecurityException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The shim's side of the protocol: one request, one answer, and how long to wait before the next.
 * Nothing an answer says can do more than change what is sent next, and when.
 */
final class Exchange {
  /** Returned by {@link #step} when the session is over. */
  static final long STOP = -1;

  private static final int MAX_BODY_BYTES = 900_000;
  private static final int MAX_COMPLAINTS = 8;
  private static final int MAX_ACKS = ActionReader.MAX_ACTIONS;

  /** So soon the answers to actions are sent, whatever the pace. */
  private static final long ANSWER_WITHIN_MS = 250;

  private static final long MIN_WAIT_MS = 100;

  private static final long MAX_WAIT_MS = 600_000;

  private static final long MOST_QUICK_MS = 1_000;

  /** At most one twentieth of a processor goes into looking at the job. */
  private static final int SWEEP_SHARE = 20;

  private final Settings settings;
  private final Identity identity;
  private final Facts facts;
  private final Transport transport;
  private final LongSupplier nanos;

  /**
   * A request that is answered sooner than this was quick: with twice as many rows it would still
   * be within the timeouts of both the shim and the service.
   */
  private final long quickNanos;

  private final Random random;
  private final Lease lease;
  private final Actions actions;
  private final Backoff backoff;
  private final Burst burst;
  private final AnswerParser parser = new AnswerParser();

  private int url;
  private final Failures failures = new Failures();
  private int refusedUrls;

  /** Addresses that take nothing in the clear: passed over while there are others. */
  private final Set<Integer> closed = new HashSet<>();

  private final PageSize size;
  private long seq;
  private long base;

  /** The base at the last page without more; see {@link RowLog#after}. */
  private long whole;

  private long epoch;
  private boolean hello = true;
  private boolean more;
  private boolean speaking;

  /** What was complained of since an answer last verified. */
  private final Set<String> complaints = new HashSet<>();

  private long droppedReplies;
  private long nextSweepNanos;
  private long newsMs;

  Exchange(
      Settings settings,
      Identity identity,
      Facts facts,
      Transport transport,
      LongSupplier nanos,
      Random random,
      Lease lease,
      Actions actions) {
    this.settings = settings;
    this.identity = identity;
    this.facts = facts;
    this.transport = transport;
    this.nanos = nanos;
    this.quickNanos =
        TimeUnit.MILLISECONDS.toNanos(Math.min(MOST_QUICK_MS, settings.readTimeoutMs / 4));
    this.random = random;
    this.lease = lease;
    this.actions = actions;
    this.size = new PageSize(settings.maxRows);
    this.backoff = new Backoff(settings.firstBackoffMs, settings.maxBackoffMs, random);
    this.burst = new Burst(nanos);
    this.nextSweepNanos = nanos.getAsLong();
  }

  /** One exchange; returns how many ms to wait before the next, or {@link #STOP}. */
  long step() throws IOException, GeneralSecurityException {
    newsMs = 0;
    sweep();
    RowLog.Page page = facts.log().after(base, whole, size.rows(), MAX_BODY_BYTES);
    seq++;
    burst.take();
    List<Ack> acks = actions.ledger().unheard(MAX_ACKS);
    long sentNanos = nanos.getAsLong();
    byte[] body =
        facts.encode(new Envelope(seq, epoch, hello, page, lease.leftMs(), acks, dropped()));
    URL to = settings.urls.get(url);
    Transport.Answer answer;
    try {
      answer = transport.post(to, body, identity.mac(body));
    } catch (Transport.TimedOut e) {
      size.tooSlow(page.rows.size(), page.more);
      return tryNext(e.getMessage());
    } catch (IOException | RuntimeException e) {
      return tryNext(e.toString());
    }
    if (answer.status == 200 || answer.status == 202) {
      return onReply(answer, page, acks, sentNanos);
    }
    if (answer.status == 408) {
      size.tooSlow(page.rows.size(), page.more);
    }
    return onRefusal(answer);
  }

  /** So soon the next step may follow the last one when there is news; 0 for never sooner. */
  long newsMs() {
    return newsMs;
  }

  /** Makes the next step look at the job whatever it costs: there may be no other. */
  void lookAgain() {
    more = false;
    nextSweepNanos = nanos.getAsLong();
  }

  /** Whether the next step has further pages to bring. */
  boolean hasMore() {
    return more;
  }

  private void sweep() {
    if (nanos.getAsLong() - nextSweepNanos < 0) {
      return;
    }
    // Rows that changed meanwhile would come behind the pages that are to follow, without end.
    long spent = more ? facts.sweepNeeds() : facts.sweep();
    nextSweepNanos = nanos.getAsLong() + SWEEP_SHARE * spent;
  }

  private Map<String, Long> dropped() {
    Map<String, Long> dropped = facts.dropped();
    long refusedActions = actions.ledger().refused();
    if (refusedActions > 0) {
      dropped.put("too_many_actions", refusedActions);
    }
    if (droppedReplies > 0) {
      dropped.put("bad_reply", droppedReplies);
    }
    return dropped;
  }

  private long onReply(Transport.Answer answer, RowLog.Page page, List<Ack> acks, long sentNanos)
      throws GeneralSecurityException {
    Reply reply;
    try {
      reply = verified(answer);
    } catch (IOException | RuntimeException e) {
      droppedReplies++;
      return tryNext(e.getMessage() == null ? e.toString() : e.getMessage());
    }
    size.answered(page.rows.size(), nanos.getAsLong() - sentNanos < quickNanos);
    failures.clear();
    backoff.reset();
    complaints.clear();
    epoch = reply.epoch;
    if (answer.status != 200 || !reply.accepted) {
      more = false;
      lease.end();
      facts.wantStarts(false);
      return settings.pace(reply.nextExchangeMs);
    }
    refusedUrls = 0;
    if (!speaking) {
      Log.info("session {} accepted by {}", identity.session, Text.address(settings.urls.get(url)));
    }
    speaking = true;
    hello = false;
    facts.wantMisses(reply.fetchFailures);
    if (reply.leaseMs > 0) {
      lease.take(reply.epoch, sentNanos, reply.leaseMs);
      newsMs = reply.newsExchangeMs > 0 ? settings.pace(reply.newsExchangeMs) : 0;
    } else {
      lease.end();
    }
    facts.wantStarts(newsMs > 0 && reply.newsOfStarts);
    actions.ledger().heard(acks);
    actions.receive(reply.actions, reply.epoch, sentNanos);
    boolean advanced = !reply.snapshot && reply.ack > base;
    acknowledged(reply.snapshot ? 0 : reply.ack);
    if (!page.more && base >= page.upto) {
      whole = base;
    }
    more = page.more && advanced;
    if (more) {
      return burst.isSpent() ? MIN_WAIT_MS : 0;
    }
    boolean owes = actions.ledger().owes();
    long waitMs =
        settings.pace(
            owes ? Math.min(reply.nextExchangeMs, ANSWER_WITHIN_MS) : reply.nextExchangeMs);
    return lease.getAsBoolean() ? Math.min(waitMs, renewal(reply.leaseMs)) : waitMs;
  }

  /** A lease is to outlast four exchanges, whatever pace the job allows. */
  private static long renewal(long leaseMs) {
    return Math.max(MIN_WAIT_MS, leaseMs / 4);
  }

  private Reply verified(Transport.Answer answer) throws IOException, GeneralSecurityException {
    if (!identity.verifies(answer.body, answer.mac)) {
      throw new IOException("answer " + answer.status + " without a valid X-Drover-Mac");
    }
    Reply reply = parser.reply(answer.body);
    if (reply.seq != seq) {
      throw new IOException("answer to request " + reply.seq + ", not to " + seq);
    }
    if (reply.epoch < epoch) {
      throw new IOException("epoch " + reply.epoch + " is older than " + epoch);
    }
    if (reply.ack > facts.log().version()) {
      throw new IOException("acknowledges version " + reply.ack + ", which does not exist");
    }
    return reply;
  }

  private long onRefusal(Transport.Answer answer) {
    Refusal refusal;
    try {
      boolean wordless = answer.status == 401 && answer.body.length == 0;
      refusal = wordless ? Refusal.NOT_BELIEVED : parser.refusal(answer.body);
    } catch (IOException | RuntimeException e) {
      return tryNext("status " + answer.status + " without a Drover answer");
    }
    String silent = failures.count() > 0 ? "; no answer from " + failures : "";
    failures.clear();
    more = false;
    if (!isOfTheMoment(answer.status)) {
      lease.end();
      facts.wantMisses(false);
      facts.wantStarts(false);
    }
    String words = refusal.message.isEmpty() ? "" : " (" + refusal.message + ")";
    String by = "refused by " + Text.address(settings.urls.get(url)) + ": " + refusal.error;
    long waitMs = waitAfter(answer.status, refusal, retry(refusal.retryMs));
    complain(refusal.error, by + words + silent, waitMs);
    return waitMs;
  }

  /** Says nothing of the session: its lease runs out by itself if no better answer comes. */
  private static boolean isOfTheMoment(int status) {
    return status == 408 || status == 413 || status == 429 || status == 503;
  }

  private long waitAfter(int status, Refusal refusal, long retryMs) {
    boolean greeted = hello;
    switch (status) {
      case 400:
        acknowledged(0);
        return retryMs;
      case 401:
        startOver();
        nextUrl(); // without words it may be anybody's
        return Math.max(retryMs, backoff.next());
      case 403:
        return onForbidden(refusal, retryMs);
      case 404:
        startOver();
        return greeted ? Math.max(retryMs, backoff.next()) : MIN_WAIT_MS;
      case 409:
        return onConflict(refusal, retryMs);
      case 410:
        return STOP;
      case 413:
        return onTooLarge();
      case 426:
        return nextOrWait(MAX_WAIT_MS); // another may be of this shim's release
      case 429:
        if (!refusal.error.equals("too_frequent")) { // that one knows the session
          nextUrl();
        }
        return retryMs;
      default:
        nextUrl();
        return retryMs;
    }
  }

  /** Another may vouch, or lead through TLS; when all have refused, the pause. */
  private long onForbidden(Refusal refusal, long retryMs) {
    startOver();
    if (refusal.error.equals("secret_over_plain_http") && openUrls() > 1) {
      closed.add(url);
      nextUrl();
      return MIN_WAIT_MS;
    }
    return nextOrWait(retryMs);
  }

  /** The next service at once; when all have refused for good, the pause. */
  private long nextOrWait(long waitMs) {
    nextUrl();
    refusedUrls++;
    if (refusedUrls < openUrls()) {
      return MIN_WAIT_MS;
    }
    refusedUrls = 0;
    return waitMs;
  }

  private int openUrls() {
    return settings.urls.size() - closed.size();
  }

  private long onConflict(Refusal refusal, long retryMs) {
    boolean known = refusal.ack >= 0 && refusal.ack <= facts.log().version();
    if (refusal.error.equals("stale_sequence") && known) {
      acknowledged(refusal.ack);
      return retryMs;
    }
    startOver();
    return Math.max(retryMs, backoff.next());
  }

  private long onTooLarge() {
    return size.tooLarge() ? MIN_WAIT_MS : backoff.next();
  }

  private void nextUrl() {
    int before = url;
    do {
      url = (url + 1) % settings.urls.size();
    } while (closed.contains(url));
    if (url != before) {
      facts.wantMisses(false); // it may be another service, which does not know of them
      facts.wantStarts(false);
    }
  }

  private void acknowledged(long version) {
    base = version;
    whole = Math.min(whole, base);
  }

  private void startOver() {
    hello = true;
    acknowledged(0);
    speaking = false;
  }

  /** Asked-for waits are kept within bounds and spread, so that many AMs do not return at once. */
  private long retry(long wantedMs) {
    long ms = Math.max(MIN_WAIT_MS, Math.min(wantedMs, MAX_WAIT_MS));
    return ms + (long) (random.nextDouble() * ms / 5);
  }

  /** The next service at once; when none has answered, a growing pause. */
  private long tryNext(String why) {
    more = false;
    facts.wantStarts(false); // with one address alone, too: counting costs the dispatcher thread
    failures.add(settings.urls.get(url), why);
    nextUrl();
    if (failures.count() < openUrls()) {
      return 0;
    }
    closed.clear(); // by now one may do what none of the others does
    long waitMs = backoff.next();
    complain("no answer", "no service answers: " + failures, waitMs);
    failures.clear();
    return waitMs;
  }

  /** Once of each kind: what follows on a service that was down may be another's refusal. */
  private void complain(String kind, String why, long waitMs) {
    if (complaints.size() < MAX_COMPLAINTS && complaints.add(kind)) {
      Log.warn("{}; waiting {} ms; Drover's lease lasts {} ms", why, waitMs, lease.leftMs());
    }
    speaking = false;
  }
}
