import { setTimeout as wait } from 'node:timers/promises'
import { openBench } from './bench/open.ts'
import type { Page } from './support/client.ts'

/**
 * What the calculation of segments takes. Arguments name the parts to run: `steps` of the worst expressions, `alone` each
 * of ten shapes, `queue` each of them over the queue, `together` fifty at once over the queue. Without any, all run.
 * With STATE_DIR people are seeded once and kept.
 */
const people = Number(process.env['PEOPLE'] ?? 100_000)
const peopleACall = 5000
const products = 20
const goals = { one_ms: 1000, all_ms: 10_000, step_ms: 300, queue_ms: 10_000, statement_ms: 500 }
/** A step that takes so long is no noise of the machine. */
const worst_ms = 1500

interface Cost {
  ms: number
  queries: number
  rows_read: number
  rows_written: number
}

interface Segment {
  id: string
  status: string
  user_count: number
}

const shapes: Record<string, { expression: (variant: number) => string; type?: 'marketing' }> = {
  everyone: { expression: (n) => `user.is_active || size(user.id) == ${n}` },
  'by language': { expression: (n) => `user.locale == "${n % 2 ? 'en' : 'da'}"` },
  'by address': { expression: (n) => `user.email.endsWith("${n % 2 ? '@example.dk' : '@example.com'}")` },
  'by metadata': { expression: (n) => `has(user.metadata.company) && user.metadata.company == "Company ${n}"` },
  'not seen lately': { expression: (n) => `user.last_seen < now - duration("${240 * (n + 1)}h")` },
  'number of orders': { expression: (n) => `stats.order_count >= ${1 + (n % 2)}` },
  'an order like this': {
    expression: (n) => `orders.exists(o, o.status == "completed" && o.amount_minor >= ${40_000 + 10_000 * n})`,
  },
  'a ticket by its id': { expression: (n) => `purchases.exists(p, p.product_id == "prd_bench_${n}")` },
  'a ticket by its name': { expression: (n) => `purchases.exists(p, p.product_name == "Ticket ${n}")` },
  'marketing, no order lately': {
    type: 'marketing',
    expression: (n) => `!orders.exists(o, o.created > now - duration("${720 * (n + 1)}h"))`,
  },
}
const variants = 5

const several = (count: number, part: (n: number) => string, by = ' || ') =>
  Array.from({ length: count }, (_, n) => part(n)).join(by)
const written = `[${several(480, String, ',')}]`

/** The most expensive accepted expressions; none of them ends early for any person. */
const heaviest: Record<string, string> = {
  'names, side by side': several(29, (n) => `purchases.exists(p,p.product_name=="${n}")`),
  'exactly one, side by side': several(28, (n) => `!purchases.exists_one(p,p.status=="${n}")`, ' && '),
  'filters, side by side': several(24, (n) => `purchases.filter(p,p.product_name=="${n}").size()>9999`),
  'numbers of purchases': several(60, (n) => `stats.purchase_count==${n}77777`),
  'sums of orders': several(60, (n) => `stats.total_spent_minor==${n}7`),
  'names, in one macro': `purchases.exists(p, ${several(50, (n) => `p.product_name=="${n}"`)})`,
  'metadata of the person': `purchases.exists(p, ${several(10, (n) => `user.metadata.a=="${n}"+p.status`)})`,
  texts: `purchases.exists(p, ${several(35, (n) => `p.status.contains("${n}"+p.product_id)`)})`,
  times: `purchases.exists(p, ${several(30, (n) => `p.created.getHours()==${n + 24}`)})`,
  'orders by purchases': 'orders.exists(o, purchases.exists(p, o.id == p.product_name))',
  'purchases by orders, with errors':
    '!purchases.exists(p, !orders.all(o, o.amount_minor + p.price_paid_minor != -1 && o.created != p.created))',
  'stats in a macro': 'purchases.exists(p, stats.order_count + p.price_paid_minor == -1)',
  'stats in a list': '-stats.order_count in purchases.map(p, p.price_paid_minor)',
  options: 'purchases.exists(p, p.option_ids.exists(x, x == p.status))',
  'metadata of orders by purchases': 'orders.filter(o, o.amount_minor < 10006).exists(o, size(purchases) < 0)',
  'a long list that is written out': `${written}.exists(n, n == size(user.first_name) - 1000)`,
}

const { server, client, signal, close } = await openBench('segments')

const made = (path: string, body: unknown) => client.post<{ id: string }>(path, body)
const verdict = (is: boolean) => (is ? 'met' : 'MISSED')
const number = (value: number, width: number) => String(Math.round(value)).padStart(width)

async function seed(): Promise<string> {
  const { results } = await client.get<Page<{ id: string; name: string }>>('/v1/organizations')
  const kept = results.find(({ name }) => name === 'Bench')
  if (kept) return kept.id
  const { id: organization_id } = await made('/v1/organizations', { name: 'Bench' })
  const { id: event_id } = await made('/v1/events', { organization_id, name: 'Bench' })
  const { id: edition_id } = await made('/v1/editions', { organization_id, event_id, name: 'Bench' })
  await client.post('/floor/segments/catalogue', { organization_id, edition_id, products })
  const started = performance.now()
  for (let from = 0; from < people; from += peopleACall) {
    const count = Math.min(peopleACall, people - from)
    await client.post('/floor/segments/seed', { organization_id, edition_id, from, count, products })
  }
  const seconds = Math.round((performance.now() - started) / 1000)
  console.log(`${people} people with ${2 * people} orders, seeded in ${seconds} s\n`)
  return organization_id
}

interface Group {
  name: string
  ids: string[]
}

async function gather(organization_id: string): Promise<Group[]> {
  const all = []
  for (const [name, { expression, type }] of Object.entries(shapes)) {
    const ids: string[] = []
    for (let variant = 0; variant < variants; variant++) {
      const segment = await made('/v1/segments', {
        organization_id,
        name: `${name} ${variant}`,
        communication_type: type ?? 'transactional',
        communication_channel: 'email',
        expression: expression(variant),
      })
      ids.push(segment.id)
    }
    all.push({ name, ids })
  }
  return all
}

async function alone(groups: Group[]): Promise<number> {
  console.log(`${'one at a time'.padEnd(28)} members   median ms   worst ms   rows read   written`)
  let slowest = 0
  for (const { name, ids } of groups) {
    const costs: Cost[] = []
    for (const segment_id of ids) {
      await client.post('/floor/segments/begin', { segment_id })
      costs.push(await client.post<Cost>('/floor/segments/calculate', { segment_id }))
    }
    const times = costs.map(({ ms }) => ms).toSorted((a, b) => a - b)
    const worst = times.at(-1) ?? 0
    slowest = Math.max(slowest, worst)
    const first = await client.get<Segment>(`/v1/segments/${ids[0]}`)
    if (first.status !== 'ready') throw new Error(`${name} is ${first.status}`)
    const [cost] = costs
    console.log(
      `${name.padEnd(28)} ${number(first.user_count, 7)} ${number(times[Math.floor(times.length / 2)] ?? 0, 11)} ${number(worst, 10)} ${number(cost?.rows_read ?? 0, 11)} ${number(cost?.rows_written ?? 0, 9)}`,
    )
  }
  return slowest
}

/** One person alone with 19 orders and 5,000 purchases. */
async function crowd(): Promise<string> {
  const { id: organization_id } = await made('/v1/organizations', { name: 'Crowd' })
  const { id: event_id } = await made('/v1/events', { organization_id, name: 'Crowd' })
  const { id: edition_id } = await made('/v1/editions', { organization_id, event_id, name: 'Crowd' })
  await client.post('/floor/segments/crowd', { organization_id, edition_id, orders: 19, purchases: 5000 })
  return organization_id
}

/** Asks for the calculations over the API, and waits until the queue has ended the last. */
async function recalculate(organization_id: string, ids: readonly string[]): Promise<number> {
  const list = (status: string) =>
    client.get<Page<Segment>>(`/v1/segments?organization_id=${organization_id}&status=${status}&page_size=1`)
  const started = performance.now()
  await Promise.all(ids.map((id) => client.post(`/v1/segments/${id}/recalculate`, {})))
  while ((await list('calculating')).count > 0) {
    await wait(100)
    signal.throwIfAborted()
    if (performance.now() - started > 300_000) throw new Error('The calculations did not end in five minutes.')
  }
  const ms = performance.now() - started
  const ended = await Promise.all(ids.map((id) => client.get<Segment>(`/v1/segments/${id}`)))
  const ready = ended.filter(({ status }) => status === 'ready').length
  if (ready !== ids.length) throw new Error(`${ready} of ${ids.length} are ready`)
  return ms
}

interface Steps {
  steps: number
  longest_ms: number
  ms: number
  /** The longest statement, which is a part of a step. */
  statement_ms: number
  statement: string
}

async function stepsOf(segment_id: string): Promise<Steps> {
  await client.post('/floor/segments/begin', { segment_id })
  const took = await client.post<Steps>('/floor/segments/steps', { segment_id })
  const { status } = await client.get<Segment>(`/v1/segments/${segment_id}`)
  if (status !== 'ready') throw new Error(`${segment_id} is ${status}`)
  return took
}

const stepsTitle = (name: string): string => `\n${name.padEnd(34)} steps  longest ms  statement ms  all ms`

const print = (name: string, { steps, longest_ms, statement_ms, ms }: Steps): void =>
  console.log(
    `${name.padEnd(34)} ${number(steps, 5)} ${number(longest_ms, 11)} ${number(statement_ms, 13)} ${number(ms, 7)}`,
  )

const sayGoal = (name: string, ms: number, goal: number): void =>
  console.log(`${name.padEnd(32)} ${number(ms, 5)} ms, goal ${goal} ms: ${verdict(ms < goal)}`)

/** The longest step of the worst expressions, of all people and of one person with 5,000 purchases. */
async function worstExpressions(organization_id: string): Promise<void> {
  let longest = 0
  for (const [who, id] of Object.entries({
    'one person with 5,000 purchases': await crowd(),
    [`${people} people`]: organization_id,
  })) {
    console.log(stepsTitle(who))
    for (const [name, expression] of Object.entries(heaviest)) {
      const segment = await made('/v1/segments', {
        organization_id: id,
        name,
        communication_type: 'transactional',
        communication_channel: 'email',
        expression,
      })
      const took = await stepsOf(segment.id)
      longest = Math.max(longest, took.longest_ms)
      print(name, took)
    }
  }
  console.log()
  sayGoal('longest step:', longest, goals.step_ms)
  if (longest > worst_ms) process.exitCode = 1
}

/** Each shape by itself: its steps one after the other, then from the request to its end over the queue. */
async function overTheQueue(organization_id: string, groups: Group[]): Promise<void> {
  let longest: Pick<Steps, 'statement' | 'statement_ms'> = { statement: '', statement_ms: 0 }
  let slowest = 0
  console.log(stepsTitle('over the queue'))
  for (const { name, ids } of groups) {
    const [id = ''] = ids
    const took = await stepsOf(id)
    const ms = await recalculate(organization_id, [id])
    if (took.statement_ms > longest.statement_ms) longest = took
    slowest = Math.max(slowest, ms)
    print(name, { ...took, ms })
  }
  console.log()
  sayGoal('longest statement:', longest.statement_ms, goals.statement_ms)
  console.log(`  ${longest.statement.replaceAll(/\s+/g, ' ').slice(0, 200)}`)
  sayGoal('slowest segment over the queue:', slowest, goals.queue_ms)
}

async function eachAlone(groups: Group[]): Promise<void> {
  const slowest = await alone(groups)
  console.log()
  sayGoal(`slowest segment of ${people}:`, slowest, goals.one_ms)
}

async function allTogether(organization_id: string, groups: Group[]): Promise<void> {
  const ids = groups.flatMap((group) => group.ids)
  const floors: number[] = []
  for (let turn = 0; turn < 5; turn++)
    floors.push((await client.post<Cost>('/floor/segments/insert', { organization_id })).ms)
  const floor = floors.toSorted((a, b) => a - b)[2] ?? 0
  const all = await recalculate(organization_id, ids)
  console.log()
  sayGoal(`all ${ids.length} over the queue:`, all, goals.all_ms)
  console.log(`everyone noted by one bare insert: ${number(floor, 5)} ms, which is what the machine can do now`)
}

async function listThem(organization_id: string, { length }: string[]): Promise<void> {
  const page = `/v1/segments?organization_id=${organization_id}&page_size=20`
  const cost = await client.post<Cost>('/floor/read/segments', { path: page, token: server.rootToken })
  console.log(`first page of the list:        ${number(cost.rows_read, 5)} rows read for 20 of ${length} segments`)
}

const parts = {
  steps: worstExpressions,
  alone: (_: string, groups: Group[]) => eachAlone(groups),
  queue: overTheQueue,
  together: allTogether,
} satisfies Record<string, (organization_id: string, groups: Group[]) => Promise<void>>

try {
  const chosen = process.argv.slice(2)
  const unknown = chosen.find((name) => !Object.hasOwn(parts, name))
  if (unknown !== undefined)
    throw new Error(`There is no part ${unknown}. The parts are ${Object.keys(parts).join(', ')}.`)
  const organization_id = await seed()
  const groups = await gather(organization_id)
  for (const [name, run] of Object.entries(parts))
    if (chosen.length === 0 || chosen.includes(name)) await run(organization_id, groups)
  await listThem(
    organization_id,
    groups.flatMap(({ ids }) => ids),
  )
} finally {
  await close()
}
