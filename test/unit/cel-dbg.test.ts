import { sql } from 'drizzle-orm'
import { it } from 'vitest'
import { predicateOf } from '../../src/db/cel/index.ts'
import { checkExpression } from '../../src/domain/cel/index.ts'
import { database } from '../support/cel-segments.ts'
const scope = { organizationId: 'org_1', editionId: 'edt_1', now: 1_780_000_000_000 }
const wrap = (before: string, inside: string, after: string, times: number) =>
  before.repeat(times) + inside + after.repeat(times)
const makers: Record<string, [(n: number) => string, number]> = {
  sums: [(n) => wrap('(', '1', '+stats.order_count)', n) + '==1', 1],
  signs: [(n) => '-'.repeat(n) + 'stats.order_count==1', 1],
  doubles: [(n) => wrap('(', '1.0', '+double(stats.order_count))', n) + '==1.0', 1],
  nots: [(n) => '!'.repeat(n) + 'user.is_active', 1],
  choices: [(n) => wrap('user.is_active?', 'true', ':false', n), 1],
  conds: [(n) => wrap('((', 'user.is_active', ')?true:false)', n), 1],
  compare: [(n) => wrap('(', 'user.is_active', '==user.has_email)', n), 1],
  conv: [(n) => wrap('bool(string(', 'user.is_active', '))', n), 2],
  join: [(n) => wrap('(', '""', '+user.first_name)', n) + '==""', 1],
  times: [(n) => wrap('(', 'user.last_seen', '+duration("1s"))', n) + '==now', 1],
  contains: [(n) => wrap('string(', '""', '.contains(user.first_name))', n) + '==""', 2],
  lower: [(n) => wrap('', 'user.first_name', '.lowerAscii()', n) + '==""', 1],
  filters: [(n) => `orders${'.filter(o,o.metadata.a=="")'.repeat(n)}.exists(o,o.id=="")`, 1],
  alternating: [(n) => wrap('(true&&(false||', 'user.is_active', '))', n), 2],
  ints: [(n) => wrap('int(double(', 'stats.order_count', '))', n) + '==1', 2],
  intstr: [(n) => wrap('int(string(', 'stats.order_count', '))', n) + '==1', 2],
  getters: [(n) => wrap('timestamp(', 'now', '.getHours())', n) + '==now', 2],
  nullcmp: [(n) => wrap('((', 'user.is_active', '?user.email:null)==null)', n), 2],
  injson: [(n) => wrap('(', 'user.is_active', ' in user.metadata.a)', n), 1],
  jsoneq: [(n) => wrap('(', 'user.is_active', '==user.metadata.a)', n), 1],
  inlist: [(n) => wrap('(', 'user.is_active', ' in [true])', n), 1],
  inrows: [(n) => wrap('(string(', 'user.is_active', ') in campaigns.opened)', n), 2],
  jsonnest: [(n) => 'user.metadata' + '.a'.repeat(n) + '==1', 1],
  macroin: [(n) => `!orders.exists(o, !purchases.exists(p,${wrap('(', 'o.amount_minor', '+1)', n)}==1))`, 1],
  macromap: [(n) => `orders.map(o, ${wrap('(', 'o.amount_minor', '+1)', n)}).exists(x, x == 1)`, 1],
}
it('x', async () => {
  for (const [name, [make, levels]] of Object.entries(makers)) {
    let last = 0
    let why = ''
    for (let n = 1; n * levels <= 45; n++) {
      const c = checkExpression(make(n))
      if (!c.ok) {
        why = c.errors[0]!.message
        break
      }
      const p = predicateOf(c.expression, scope)
      const ok = await database()
        .all(sql`select u.id from users u where u.organization_id = ${'a'} and u.seq > ${1} and u.seq <= 10 and ${p}`)
        .then(
          () => true,
          (e) => {
            why = String(e)
            return false
          },
        )
      if (!ok) break
      last = n
    }
    console.log('Q', name, last, 'levels', last * levels, why.slice(0, 90))
  }
})
