import { sql } from 'drizzle-orm'
import { longBits, written } from '../../db/edition-counts.ts'
import type { IndexedTexts } from '../../db/lists/missing-texts.ts'

/** What orders are found by themselves. Their customers have the other texts. */
export const indexedTexts: IndexedTexts = {
  index: 'order_search',
  table: 'orders',
  text: 'own_search_text',
  marks: ['edition', 'organization'],
  change: (seqs) => sql`update order_counts set changes = changes + 1
    where span_bits = ${written(longBits)} and (edition_id, span) in
      (select edition_id, created_at >> ${written(longBits)} from orders where seq in (${seqs}))`,
}
