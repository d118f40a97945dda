import { and, eq, gt, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { select } from '../../db/select.ts'
import type { Language } from '../../domain/languages.ts'
import { isRecord } from '../../domain/text/json.ts'
import { toIso } from '../../domain/time/instants.ts'
import { presentValues } from '../data-imports/index.ts'
import { listCampaignNumbers, type LoadedUser } from '../users/index.ts'
import { formatPage } from './export-page.ts'
import { type ExportSection, listExportSections, type SectionName } from './export-sections.ts'
import { type ExportedRow, presentExportedRow } from './public-row.ts'

const rowsPerPage = 500
const campaignsPerPage = 20

type KeyedRow = ExportedRow & { row_key: string }

const selectPage = ({ columns, from, where, key }: ExportSection, after: string) =>
  sql<KeyedRow>`select ${key} as row_key, ${columns} from ${from} where ${where} and ${key} > ${after}
    order by ${key} limit ${rowsPerPage}`

function parseRow({ row_key: _, ...row }: KeyedRow, section: SectionName): ExportedRow {
  const presentedRow = presentExportedRow(row)
  const { values } = presentedRow
  return section === 'import_rows' && isRecord(values)
    ? { ...presentedRow, values: presentValues(values) }
    : presentedRow
}

async function* readRows(ctx: Ctx, section: ExportSection): AsyncGenerator<ExportedRow> {
  let after = ''
  for (;;) {
    const rows = await ctx.db.all(selectPage(section, after))
    for (const row of rows) yield parseRow(row, section.name)
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerPage) return
    after = last.row_key
  }
}

/** Reads the customer from the Durable Objects of campaigns, also as those who were merged into them. */
async function* readRecipients(ctx: Ctx, user: LoadedUser): AsyncGenerator<ExportedRow> {
  const numbers = await listCampaignNumbers(ctx, user)
  let after = 0
  for (;;) {
    const startedCampaigns = await ctx.db.all(
      select({ seq: campaigns.seq, id: campaigns.id })
        .from(campaigns)
        .where(and(eq(campaigns.organization_id, user.organization_id), gt(campaigns.run, 0), gt(campaigns.seq, after)))
        .orderBy(campaigns.seq)
        .limit(campaignsPerPage),
    )
    const recipients = await Promise.all(
      startedCampaigns.flatMap(({ id }) =>
        numbers.map(async (n) => ({ campaign_id: id, row: await ctx.senders.get(id).findRecipient(n) })),
      ),
    )
    for (const { campaign_id, row } of recipients) {
      if (!row) continue
      const { n: _, person, ...storedRow } = row
      yield presentExportedRow({ campaign_id, ...storedRow, person_json: person })
    }
    const last = startedCampaigns.at(-1)
    if (!last) return
    after = last.seq
  }
}

async function* formatArray(rows: AsyncIterable<ExportedRow>): AsyncGenerator<string> {
  let separator = '['
  let text = ''
  for await (const row of rows) {
    text += separator + JSON.stringify(row)
    separator = ',\n'
    if (text.length < 50_000) continue
    yield text
    text = ''
  }
  yield `${separator === '[' ? '[' : text}]`
}

interface ReadSection {
  name: SectionName
  rows: AsyncIterable<ExportedRow>
}

const readSections = (ctx: Ctx, user: LoadedUser): ReadSection[] => [
  ...listExportSections(user).map((section) => ({ name: section.name, rows: readRows(ctx, section) })),
  { name: 'campaign_recipients', rows: readRecipients(ctx, user) },
]

async function* formatDocument(exportedAt: string, sections: readonly ReadSection[]): AsyncGenerator<string, void> {
  yield `{"exported_at":${JSON.stringify(exportedAt)}`
  for (const { name, rows } of sections) {
    yield `,\n"${name}":`
    yield* formatArray(rows)
  }
  yield '}\n'
}

interface PageFrame {
  start: string
  end: string
  language: Language
}

async function* formatFramedPage(
  { start, end, language }: PageFrame,
  exportedAt: string,
  sections: readonly ReadSection[],
): AsyncGenerator<string, void> {
  yield start
  yield* formatPage({ exportedAt, language, sections })
  yield end
}

/** The audit entry is written before the first row is sent. */
const recordExport = async (ctx: Ctx): Promise<unknown> => ctx.db.batch(await ctx.recordWrite(null, true))

export const exportUser = (ctx: Ctx, user: LoadedUser) => ({
  name: `user-${user.id}.json`,
  open: async () => {
    await recordExport(ctx)
    return formatDocument(toIso(ctx.now()), readSections(ctx, user))
  },
})

export const exportUserAsPage = (ctx: Ctx, user: LoadedUser, frame: PageFrame) => ({
  name: null,
  open: async () => {
    await recordExport(ctx)
    return formatFramedPage(frame, toIso(ctx.now()), readSections(ctx, user))
  },
})
