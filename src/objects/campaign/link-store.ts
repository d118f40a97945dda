import { type LinkCounts, maxClicksPerPerson } from '../../domain/campaigns/link-counts.ts'

/** A visit to a tracked link. `at` is null for a visit by a program. */
export interface LinkClick {
  link: number
  n: number
  at: number | null
}

/** The clicks of a recipient on a link. */
interface LinkRow {
  link: number
  n: number
  times: number[]
  is_machine_clicked: boolean
}

const getKey = ({ link, n }: { link: number; n: number }): string => `${link} ${n}`

const countRow = ({ link, times, is_machine_clicked }: LinkRow): LinkCounts => ({
  link,
  clicks: times.length,
  people: Math.min(1, times.length),
  machine_clicked: Number(is_machine_clicked),
})

/** Counts the clicks on each link. Clicks are known by their time, so a repeated event counts once. */
export class LinkStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Returns the recipients who clicked a link for the first time. */
  record(clicks: readonly LinkClick[]): number[] {
    if (clicks.length === 0) return []
    const rows = this.#loadRows(clicks)
    const changedRows: LinkRow[] = []
    const changes: LinkCounts[] = []
    const newNumbers: number[] = []
    for (const [key, group] of Map.groupBy(clicks, getKey)) {
      const { link, n } = group[0] as LinkClick
      const row = rows.get(key) ?? { link, n, times: [], is_machine_clicked: false }
      const changedRow = addClicks(row, group)
      if (!changedRow) continue
      changedRows.push(changedRow)
      const [before, after] = [countRow(row), countRow(changedRow)]
      changes.push({
        link,
        clicks: after.clicks - before.clicks,
        people: after.people - before.people,
        machine_clicked: after.machine_clicked - before.machine_clicked,
      })
      if (after.people > before.people) newNumbers.push(n)
    }
    if (changedRows.length) this.#store(changedRows, changes)
    return newNumbers
  }

  /** Lists the links that somebody or a program clicked. */
  listCounts(): LinkCounts[] {
    return this.#sql.exec('select * from link_counts order by link').toArray() as unknown as LinkCounts[]
  }

  #loadRows(clicks: readonly LinkClick[]): Map<string, LinkRow> {
    const rows = this.#sql
      .exec<{ link: number; n: number; times: string; is_machine_clicked: number }>(
        `select link_clicks.* from json_each(?) as item cross join link_clicks
           on link = item.value ->> 'link' and n = item.value ->> 'n'`,
        JSON.stringify(clicks),
      )
      .toArray()
    return new Map(
      rows.map((row) => [
        getKey(row),
        { ...row, times: JSON.parse(row.times) as number[], is_machine_clicked: row.is_machine_clicked === 1 },
      ]),
    )
  }

  #store(rows: readonly LinkRow[], changes: readonly LinkCounts[]): void {
    this.#sql.exec(
      `insert into link_clicks (link, n, times, is_machine_clicked)
       select value ->> 'link', value ->> 'n', value ->> 'times', value ->> 'is_machine_clicked'
       from json_each(?) where true
       on conflict (n, link) do update set times = excluded.times, is_machine_clicked = excluded.is_machine_clicked`,
      JSON.stringify(rows),
    )
    this.#sql.exec(
      `insert into link_counts (link, clicks, people, machine_clicked)
       select value ->> 'link', sum(value ->> 'clicks'), sum(value ->> 'people'), sum(value ->> 'machine_clicked')
       from json_each(?) group by 1 having true
       on conflict (link) do update set clicks = clicks + excluded.clicks, people = people + excluded.people,
         machine_clicked = machine_clicked + excluded.machine_clicked`,
      JSON.stringify(changes),
    )
  }
}

/** Returns null when the clicks change nothing, because they were stored before or are too many. */
function addClicks(row: LinkRow, clicks: readonly LinkClick[]): LinkRow | null {
  const times = new Set(row.times)
  for (const { at } of clicks) if (at !== null && times.size < maxClicksPerPerson) times.add(at)
  const is_machine_clicked = row.is_machine_clicked || clicks.some(({ at }) => at === null)
  const isChanged = times.size > row.times.length || is_machine_clicked !== row.is_machine_clicked
  return isChanged ? { ...row, times: [...times], is_machine_clicked } : null
}
