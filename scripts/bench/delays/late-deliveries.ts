import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '../../support/client.ts'
import { findRuntime } from '../../support/runtime-use.ts'
import type { Step, Trace } from './tracing.ts'

/** What a thread did so far, in milliseconds. */
interface Use {
  at: number
  ran: number
  /** It could have run, and had no processor. */
  waited: number
}

export interface Watched extends Trace {
  uses: Use[]
}

interface Post {
  event: string
  url: string
  committedAt: number
  firstByteAt: number
}

const lateMs = 50
const sampleEveryMs = 5

const now = (): number => performance.timeOrigin + performance.now()

const useOf = (id: string, thread: string): Use => {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${id}/task/${thread}/schedstat`, 'utf8').split(' ').map(Number)
  return { at: now(), ran: ran / 1e6, waited: waited / 1e6 }
}

/** Of the runtime's threads the one that has run most: it runs all isolates. */
async function watchThread(ms: number): Promise<Use[]> {
  const id = findRuntime()?.id ?? ''
  const threads = readdirSync(`/proc/${id}/task`)
  const [busiest = id] = threads.toSorted((one, other) => useOf(id, other).ran - useOf(id, one).ran)
  const uses = [useOf(id, busiest)]
  for (const end = now() + ms; now() < end; await wait(sampleEveryMs)) uses.push(useOf(id, busiest))
  return uses
}

/** Notes for so long what happens to deliveries. It needs Linux. */
export async function watchDeliveries(client: Client, ms: number): Promise<Watched> {
  const [trace, uses] = await Promise.all([client.post<Trace>('/floor/webhooks/trace', { ms }), watchThread(ms)])
  return { ...trace, uses }
}

function useDuring(uses: readonly Use[], from: number, to: number): Use {
  const first = uses.findLast(({ at }) => at <= from) ?? uses[0]
  const last = uses.find(({ at }) => at >= to) ?? uses.at(-1)
  if (!first || !last) return { at: 0, ran: 0, waited: 0 }
  return { at: last.at - first.at, ran: last.ran - first.ran, waited: last.waited - first.waited }
}

const waits = ['for a consumer', 'for the database', 'for a connection', 'for the first byte'] as const

/** How long each wait of a delivery was, up to its first byte. */
function waitsOf({ committedAt, firstByteAt }: Post, steps: readonly Step[]): number[] {
  const claim = steps.find(({ what }) => what === 'claimed')
  const posted = steps.find(({ what }) => what === 'posted')
  const moments = [committedAt, claim?.asked ?? committedAt, claim?.at ?? committedAt, posted?.at ?? committedAt]
  return moments.map((moment, index) => Math.max(0, (moments[index + 1] ?? firstByteAt) - moment))
}

function showCourse(watched: Watched, { event, url, committedAt, firstByteAt }: Post, steps: readonly Step[]): void {
  const { ran, waited } = useDuring(watched.uses, committedAt, firstByteAt)
  const after = (at: number) => (at - committedAt).toFixed(0)
  console.log(`\n${event} to ${new URL(url).pathname}: first byte after ${after(firstByteAt)} ms`)
  console.log(
    `  meanwhile the runtime's thread ran ${ran.toFixed(0)} ms and waited ${waited.toFixed(0)} for a processor`,
  )
  for (const { at, asked, what, by } of steps)
    console.log(`  ${after(at)} ms: ${what} by ${by}${asked === undefined ? '' : `, asked at ${after(asked)}`}`)
}

function showWorks({ works }: Watched, { committedAt, firstByteAt }: Post): void {
  const during = works.filter(({ from, to }) => to >= committedAt && from <= firstByteAt)
  for (const { from, to, what } of during.toSorted((one, other) => one.from - other.from))
    console.log(`    ${(from - committedAt).toFixed(0)} to ${(to - committedAt).toFixed(0)} ms: ${what}`)
}

/** Prints the course of each late delivery, what ran meanwhile, and what they waited for. */
export function showLate(watched: Watched, posts: readonly Post[]): void {
  const byDelivery = Map.groupBy(watched.steps, ({ event, url }) => `${event} ${url}`)
  const late = posts
    .filter(({ committedAt, firstByteAt }) => firstByteAt - committedAt > lateMs)
    .toSorted((one, other) => one.firstByteAt - other.firstByteAt)
  const longest = waits.map(() => 0)
  const total = { delay: 0, ran: 0, waited: 0 }
  let event = ''
  for (const post of late) {
    const steps = byDelivery.get(`${post.event} ${post.url}`) ?? []
    showCourse(watched, post, steps)
    if (post.event !== event) showWorks(watched, post)
    event = post.event
    const own = waitsOf(post, steps)
    const index = own.indexOf(Math.max(...own))
    longest[index] = (longest[index] ?? 0) + 1
    const { ran, waited } = useDuring(watched.uses, post.committedAt, post.firstByteAt)
    total.delay += post.firstByteAt - post.committedAt
    total.ran += ran
    total.waited += waited
  }
  const counts = waits.map((name, index) => `${longest[index]} ${name}`).join(', ')
  console.log(`\n${late.length} of ${posts.length} came after more than ${lateMs} ms. They waited longest: ${counts}.`)
  const share = (ms: number) => `${((100 * ms) / Math.max(1, total.delay)).toFixed(0)} %`
  console.log(
    `Meanwhile the runtime's thread ran ${share(total.ran)} of the time and waited ${share(total.waited)} of it for a processor.`,
  )
}
