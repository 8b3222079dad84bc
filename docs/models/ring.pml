/* The sequenced ring, the crossing of plans, and the hand-over from one generation to the next.
 *
 * README.md beside this file maps it to the code and says what it leaves out. Sizes and mutants are
 * set by -D; tests/models/check_models.py has the configurations that are searched in full.
 *
 * What holds in every reachable state, by assertion:
 *  1. Every slot's tuples of every block are applied once, in order, by the worker that holds the
 *     slot: applied[] in apply(), and Finish at the end.
 *  2. An entry is not claimed again before all who read it have: unread[] at the claim.
 *  3. Workers meet at equal crossings, and every crossing is reclaimed: cross() and Finish.
 *     Every block is counted once, by the last that settles it: Finish.
 *  4. Nobody is left waiting: no invalid end state.
 */

/* Workers of the first, second and third generation, up to three; 0 = there is no such one. */
#ifndef WORKERS_0
#define WORKERS_0 1
#endif
#ifndef WORKERS_1
#define WORKERS_1 2
#endif
#ifndef WORKERS_2
#define WORKERS_2 0
#endif
#ifndef AGENTS
#define AGENTS 2 /* ingest agents of each generation */
#endif
#ifndef BLOCKS
#define BLOCKS 4 /* the last one carries the end */
#endif
#ifndef SIZE
#define SIZE 2 /* entries of the ring */
#endif
#ifndef SLOTS
#define SLOTS 4
#endif
#ifndef CUTS
#define CUTS 1 /* blocks, at most, that bring a live change */
#endif

#define pause }; atomic { /* between two steps of one process, where others may act */

#define GENERATIONS 3
#define MOST 3    /* workers of a generation */
#define NEVER 255 /* the mark of a generation that has not begun */

#define workers(g) ((g) == 0 -> WORKERS_0 : ((g) == 1 -> WORKERS_1 : WORKERS_2))
#define owner(g, slot) ((slot) % workers(g))
#define worker_id(g, w) ((g) * MOST + (w))
#ifdef MUTANT_COUNTS_OUTLIVE_GENERATIONS
#define count_of(g, w) (w)
#else
#define count_of(g, w) worker_id(g, w)
#endif
#define held_by(g, w) (1 + worker_id(g, w))
#define share(g) (100 + (g)) /* given up for generation g, not taken yet */

/* Intake: what is under the claim lock. */
bool claiming = false;
byte next = 0;
byte generation = 0;
byte live = 0; /* changes so far */
bool over = false;

/* The ring. */
byte published[SIZE];
byte consumed[GENERATIONS * MOST];
byte mark[GENERATIONS + 1]; /* number of the first entry of each generation */
byte unread[SIZE];          /* ghost: readers that have still to come, or to finish */

/* Entries. */
byte routes[SIZE];  /* generation by whose routes the block was scattered */
bool begins[SIZE];  /* it is a mark */
bool change[SIZE];  /* it brings a live change */
byte settled[SIZE]; /* workers that have said what became of its tuples */
byte counted = 0;   /* blocks of which the last of them has counted that */

/* PlanLog. */
#define ORDINALS (CUTS + 2) /* the start, live changes, the end */
byte first_pending = 0;
byte pending = 0;
byte takers[ORDINALS];
byte place[ORDINALS];  /* where the crossing lies */
byte needed[ORDINALS]; /* workers of the generation in which it lies */

/* HandOver, one for each generation but the first. */
byte given[GENERATIONS];
byte cursor[GENERATIONS];

/* State of the slots. */
byte holder[SLOTS];
byte applied[SLOTS];

byte working = WORKERS_0; /* workers that are to end yet */

/* Consumer w of generation g lets entry s be claimed. One that has retired has nothing to do with
 * entries from the mark of the next generation on, so it holds up none of them. */
#define lower(a, b) ((a) < (b) -> (a) : (b))
#if defined(MUTANT_RETIRED_FORGOTTEN)
#define enough(g, w, s) (mark[(g) + 1] != NEVER || consumed[count_of(g, w)] >= (s) - SIZE + 1)
#elif defined(MUTANT_RETIRED_COUNT)
#define enough(g, w, s) (consumed[count_of(g, w)] >= (s) - SIZE + 1)
#else
#define enough(g, w, s) (consumed[count_of(g, w)] >= lower((s) - SIZE + 1, mark[(g) + 1]))
#endif
#define lets(g, w, s) ((w) >= workers(g) || mark[g] == NEVER || enough(g, w, s))
#ifdef MUTANT_ROOM_IGNORES_A_WORKER
#define all_let(g, s) (lets(g, 1, s) && lets(g, 2, s))
#else
#define all_let(g, s) (lets(g, 0, s) && lets(g, 1, s) && lets(g, 2, s))
#endif
#define has_room(s) ((s) < SIZE || (all_let(0, s) && all_let(1, s) && all_let(2, s)))

#ifdef MUTANT_OLD_AGENTS_CLAIM
#define may_claim(g) (!over)
#define routes_of(g) (g)
#else
#define may_claim(g) (!over && generation == (g))
#define routes_of(g) (generation)
#endif
#ifdef MUTANT_COUNTS_FROM_ZERO
#define first_count(s) 0
#else
#define first_count(s) (s)
#endif
#ifdef MUTANT_NO_CLAIM_LOCK
#define lock_is_free true
#else
#define lock_is_free (!claiming)
#endif

/* A claim that fails changes nothing, so it is a step that waits: who does it again and again would
 * hide that nobody gets on. */
proctype Ingest(byte g) {
  byte s, e;
end_ingest: /* also of a generation that never begins */
  do
  :: atomic {
       may_claim(g) && lock_is_free && has_room(next) ->
       claiming = true;
       s = next;
       e = s % SIZE;
       assert(unread[e] == 0);
       begins[e] = false;
       change[e] = false;
       settled[e] = 0;
       /* Here the source is read, which takes as long as it takes. */
       pause
       if
       :: s > 0 && generation + 1 < GENERATIONS && workers(generation + 1) > 0 ->
          unread[e] = workers(generation); /* they come to the mark, too */
          generation++;
          mark[generation] = s;
          begins[e] = true;
          working = working + workers(generation);
          consumed[count_of(generation, 0)] = first_count(s);
          consumed[count_of(generation, 1)] = first_count(s);
          consumed[count_of(generation, 2)] = first_count(s)
       :: true
       fi;
       if
       :: live < CUTS ->
          live++;
          change[e] = true
       :: true
       fi;
       unread[e] = unread[e] + workers(generation);
       routes[e] = routes_of(g);
       over = (s + 1 == BLOCKS);
       next = s + 1;
       claiming = false
     }
     /* Here it is parsed and scattered; the others claim and publish what comes behind it. */
     atomic {
       published[e] = s + 1;
       s = 0;
       e = 0
     }
  od
}

#ifdef MUTANT_TAKERS_OF_THE_NEWEST
#define all_took (takers[first_pending] == workers(generation))
#else
#define all_took (takers[first_pending] == needed[first_pending])
#endif

/* PlanLog::cross(), which is one step since all of it is under a mutex. */
inline cross(where) {
  d_step {
    assert(first_pending <= ordinal && ordinal <= first_pending + pending);
    if
    :: ordinal == first_pending + pending ->
       place[ordinal] = where;
       needed[ordinal] = workers(g);
       pending++
    :: else
    fi;
    assert(place[ordinal] == where);
    takers[ordinal]++;
    ordinal++;
    do
    :: pending > 0 && all_took ->
       takers[first_pending] = 0;
       place[first_pending] = 0;
       needed[first_pending] = 0;
       first_pending++;
       pending--
    :: else -> break
    od
  }
}

#ifdef MUTANT_SETTLED_BY_THE_NEWEST
#define settlers(e) workers(generation)
#else
#define settlers(e) workers(routes[e])
#endif

inline settle() {
  d_step {
    settled[e]++;
    if
    :: settled[e] == settlers(e) -> counted++
    :: else
    fi
  }
}

/* What worker w owns goes to those of the next generation; then it says that it has given. */
inline give_slots() {
  d_step {
    slot = 0;
    do
    :: slot < SLOTS ->
       if
       :: holder[slot] == held_by(g, w) -> holder[slot] = share(g + 1)
       :: else
       fi;
       slot++
    :: else -> break
    od;
    slot = 0
  }
}
inline say_given() {
  d_step {
    assert(given[g + 1] == 0 || cursor[g + 1] == ordinal);
    cursor[g + 1] = ordinal;
    given[g + 1]++;
    unread[e] = unread[e] - 1
  }
}

inline take() {
  d_step {
    slot = 0;
    do
    :: slot < SLOTS ->
       if
       :: owner(g, slot) == w && holder[slot] == share(g) -> holder[slot] = held_by(g, w)
       :: else
       fi;
       slot++
    :: else -> break
    od;
    slot = 0;
    ordinal = cursor[g]
  }
}

inline apply() {
  d_step {
    assert(published[e] == s + 1);
    slot = 0;
    do
    :: slot < SLOTS ->
       if
       :: owner(routes[e], slot) == w -> /* it is in batch w */
          assert(holder[slot] == held_by(g, w));
          assert(applied[slot] == s);
          applied[slot]++
       :: else
       fi;
       slot++
    :: else -> break
    od;
    slot = 0
  }
}

inline consume() {
  d_step {
    assert(consumed[count_of(g, w)] == s);
    consumed[count_of(g, w)] = s + 1;
    unread[e] = unread[e] - 1;
    s++
  }
}

/* The last thing that a worker does; it stays where it ended, for a process that goes is a step. */
inline end() {
  d_step {
    working--;
    s = 0;
    e = 0;
    ordinal = 0
  }
}

#ifdef MUTANT_NO_WAIT_AT_THE_MARK
#define may_take(g) (generation >= (g))
#else
#define may_take(g) (generation >= (g) && given[g] == workers((g) - 1))
#endif

#define is_ready(s) (published[(s) % SIZE] == (s) + 1)
/* The worker has come to the mark of the next generation, not to the one it began at. */
#define is_mark(g, s) (begins[(s) % SIZE] && (s) != mark[g])

proctype Worker(byte g; byte w) {
  byte s, e, ordinal, slot;
  if
  :: g == 0 -> cross(0)
  :: else ->
end_begin: /* as long as something is to be done, Finish is what waits in vain */
     atomic {
       may_take(g);
       s = mark[g];
       take()
     }
  fi;
  do
  :: atomic {
       is_ready(s) && is_mark(g, s) ->
       e = s % SIZE;
#ifdef MUTANT_GIVEN_BEFORE_THE_SLOTS
       say_given();
       pause
       give_slots();
#else
       give_slots();
       pause
       say_given();
#endif
       end();
       break
     }
  :: atomic {
       is_ready(s) && !is_mark(g, s) ->
       e = s % SIZE;
       if
       :: change[e] -> cross(2 * s + 1)
       :: else
       fi;
       pause
       apply();
       if
       :: s + 1 == BLOCKS -> cross(2 * s + 2)
       :: else
       fi;
       pause
       settle();
       pause
       consume();
       if
       :: s == BLOCKS ->
          end();
          break
       :: else
       fi
     }
  od;
end_worker:
  false
}

proctype Finish() {
  byte slot;
  atomic {
    over && working == 0 ->
    assert(next == BLOCKS);
    assert(pending == 0);
    assert(counted == BLOCKS);
    do
    :: slot < SLOTS ->
       assert(applied[slot] == BLOCKS);
       assert(holder[slot] == held_by(generation, owner(generation, slot)));
       slot++
    :: else -> break
    od
  }
}

init {
  byte g, at;
  atomic {
    do
    :: at < SLOTS ->
       holder[at] = held_by(0, owner(0, at));
       at++
    :: else -> break
    od;
    mark[1] = NEVER;
    mark[2] = NEVER;
    mark[3] = NEVER;
    do
    :: g < GENERATIONS && workers(g) > 0 ->
       at = 0;
       do
       :: at < AGENTS ->
          run Ingest(g);
          at++
       :: else -> break
       od;
       at = 0;
       do
       :: at < workers(g) ->
          run Worker(g, at);
          at++
       :: else -> break
       od;
       g++
    :: else -> break
    od;
    run Finish()
  }
}
