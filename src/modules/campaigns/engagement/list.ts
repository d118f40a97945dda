import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { campaignContents, campaignLinks } from '../../../db/schema/campaigns.ts'
import { select } from '../../../db/select.ts'
import type { LinkCounts } from '../../../domain/campaigns/link-counts.ts'
import type { Language } from '../../../domain/languages.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { LoadedCampaign } from '../queries.ts'
import type { LinkQuery } from './contract.ts'

const columns = { position: campaignLinks.position, url: campaignLinks.url }

export type ListedLink = Omit<LinkCounts, 'link'> & { position: number; url: string; languages: Language[] }

interface Content {
  language: Language
  links: readonly number[]
}

/** Loads the positions of all links, and those of the newest content in each language. */
async function loadPositions(ctx: Ctx, { id }: LoadedCampaign): Promise<{ positions: number[]; contents: Content[] }> {
  const newestRun = sql`(select max(run) from ${campaignContents} where campaign_id = ${id})`
  const [links, contents] = await ctx.db.batch([
    select({ position: campaignLinks.position })
      .from(campaignLinks)
      .where(eq(campaignLinks.campaign_id, id))
      .orderBy(campaignLinks.position),
    select({ language: campaignContents.language, links: campaignContents.links })
      .from(campaignContents)
      .where(and(eq(campaignContents.campaign_id, id), eq(campaignContents.run, newestRun)))
      .orderBy(campaignContents.language),
  ])
  return { positions: links.map(({ position }) => position), contents }
}

export async function listCampaignLinks(
  ctx: Ctx,
  page: PageRequest,
  { language, ordering }: LinkQuery,
  campaign: LoadedCampaign,
): Promise<Page<ListedLink>> {
  const [{ positions, contents }, counts] = await Promise.all([
    loadPositions(ctx, campaign),
    campaign.run === 0 ? [] : ctx.senders.get(campaign.id).listLinkCounts(),
  ])
  const countsByLink = new Map(counts.map((count) => [count.link, count]))
  const content = contents.find((one) => one.language === language)
  const items = (language ? (content?.links ?? []) : positions).map((link) => {
    const { clicks = 0, people = 0 } = countsByLink.get(link) ?? {}
    return [link, clicks, people]
  })
  const links = await paginate(ctx.db, page, {
    from: sql`json_each(${JSON.stringify(items)}) as items cross join ${campaignLinks}
      on campaign_id = ${campaign.id} and position = items.value ->> 0`,
    where: [],
    orderBy: buildOrderBy(ordering, 'position', {
      position: sql`items.key`,
      clicks: sql`items.value ->> 1`,
      people: sql`items.value ->> 2`,
    }),
    id: sql`position`,
    columns,
    joins: sql`join ${campaignLinks} on campaign_id = ${campaign.id} and position = page.id`,
  })
  const rows = links.rows.map((row) => {
    const { clicks = 0, people = 0, machine_clicked = 0 } = countsByLink.get(row.position) ?? {}
    const languages = contents.filter((one) => one.links.includes(row.position)).map((one) => one.language)
    return { ...row, clicks, people, machine_clicked, languages }
  })
  return { ...links, rows }
}
