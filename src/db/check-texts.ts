import { sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import { checkedPart, type IndexedTexts, putIn, type CheckedTexts } from './lists/missing-texts.ts'
import { checkAtNight } from './sweeps/nightly.ts'

const rowsASweep = 2000

/**
 * Looks whether the index finds the next rows by all of their texts, over the nights all rows. Puts in what is missing. What it
 * has too many stays: what it finds is compared with the row.
 */
export const checkTexts = (job: { db: Database; now: () => number }, texts: IndexedTexts): Promise<void> =>
  checkAtNight<CheckedTexts>(job, {
    name: `check ${texts.index}`,
    fault: `Texts of ${texts.table} were missing from the index and are put in`,
    rows: rowsASweep,
    findNext: (after) => checkedPart(job.db, texts, Number(after)),
    placeOf: ({ last }) => String(last),
    repair: async ({ rows, suspects }, position) => {
      if (suspects.length === 0) {
        await job.db.batch([position])
        return { wrong: [], rows }
      }
      const seqs = sql`select value from json_each(${JSON.stringify(suspects)})`
      // What is in the index first: what renews a text takes the former one out of it.
      const repairs = [putIn(texts, seqs), ...(texts.derived ? [texts.derived.renew(seqs)] : [])]
      const [, , ...repaired] = await job.db.batch([position, texts.change(seqs), ...repairs])
      return { wrong: [...new Set(repaired.flat().map(({ id }) => id))], rows }
    },
  })
