import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Ctx } from '../../../src/context.ts'
import { AppError, LostRace } from '../../../src/domain/errors.ts'
import { approveCampaign, rejectCampaign } from '../../../src/modules/campaigns/approval/decide.ts'
import { requestCampaignApproval } from '../../../src/modules/campaigns/approval/request.ts'
import { findAuthorizedCampaign } from '../../../src/modules/campaigns/checks.ts'
import type { LoadedCampaign } from '../../../src/modules/campaigns/queries.ts'
import { scheduleCampaign, sendCampaignNow } from '../../../src/modules/campaigns/transitions.ts'
import { create, patch, rootToken } from '../../support/api.ts'
import { type ApprovalTeam, givenApprovalTeam, type Part, parts } from '../../support/campaign-approvals.ts'
import { getCampaignObject, listCaptured, loadCampaign, runUntil } from '../../support/campaigns.ts'
import { createContextAt } from '../../support/context.ts'
import { dearRuns } from '../../support/property-runs.ts'
import { aBlock } from '../../support/seeding/messaging/email-messages.ts'
import { formatHourFromNow } from '../../support/seeding/rows.ts'

const changes = parts.map((part) => `change ${part}` as const)
const verbs = ['request', 'approve', 'reject', 'schedule', 'send'] as const
type Verb = (typeof verbs)[number]

interface Act {
  do: Verb | (typeof changes)[number] | 'tick'
  /** The token; the first two are of one account, and the last is the superuser's. */
  by: number
  value: number
}

const by = fc.nat(4)
const value = fc.nat(2)
const act: fc.Arbitrary<Act> = fc.record({
  do: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('request' as const, 'approve' as const) },
    { weight: 3, arbitrary: fc.constantFrom('schedule' as const, 'send' as const, 'tick' as const) },
    { weight: 3, arbitrary: fc.constantFrom(...changes) },
    { weight: 1, arbitrary: fc.constant('reject' as const) },
  ),
  by,
  value,
})

/** A verb that something else overtakes between its last read and its commit. */
const race = fc.record({
  do: fc.constantFrom(...verbs),
  by,
  value,
  overtaker: fc.record({ do: fc.constantFrom(...verbs, ...changes, ...changes), by, value }),
})
const step = fc.oneof({ weight: 3, arbitrary: act }, { weight: 2, arbitrary: race })

/** A campaign whose acts happen one after another. */
class Model {
  status: 'draft' | 'scheduled' | 'failed' | 'sent' = 'draft'
  /** The versions of the parts, and the text of the sender, which holds again after it was changed back. */
  #content = { campaign: 0, message: 0, segment: 0, sender: -1 }
  readonly texts = { campaign: -1, message: -1, segment: -1, sender: -1 }
  #lastChanger: string | null = null
  #approval: { status: 'requested' | 'approved' | 'rejected'; by: string; content: string } | null = null

  get #approvalStatus(): string {
    if (!this.#approval) return 'none'
    const isCurrent = this.#approval.content === JSON.stringify(this.#content)
    return isCurrent || this.#approval.status === 'rejected' ? this.#approval.status : 'outdated'
  }

  #change(part: Part, account: string, { value: text }: Act): boolean {
    if (part === 'campaign' && !['draft', 'scheduled'].includes(this.status)) return false
    if (this.texts[part] === text) return true
    this.texts[part] = text
    this.#content[part] = part === 'sender' ? text : this.#content[part] + 1
    this.#lastChanger = account
    return true
  }

  #start(status: 'scheduled' | 'sent'): boolean {
    if (this.#approvalStatus !== 'approved') return false
    this.status = status
    return true
  }

  /** Says whether the act succeeds, and does it. */
  perform(one: Act, account: string): boolean {
    if (one.do === 'tick') {
      if (this.status === 'scheduled' && !this.#start('sent')) this.status = 'failed'
      return true
    }
    const part = parts.find((name) => one.do === `change ${name}`)
    if (part) return this.#change(part, account, one)
    if (this.status === 'sent') return false
    switch (one.do) {
      case 'request':
        if (!['none', 'rejected', 'outdated'].includes(this.#approvalStatus)) return false
        this.#approval = { status: 'requested', by: account, content: JSON.stringify(this.#content) }
        return true
      case 'approve':
        if (this.#approvalStatus !== 'requested' || !this.#approval) return false
        if (this.#approval.by === account || this.#lastChanger === account) return false
        this.#approval.status = 'approved'
        return true
      case 'reject':
        if (!['requested', 'approved'].includes(this.#approvalStatus) || !this.#approval) return false
        this.#approval.status = 'rejected'
        return true
      default:
        return this.#start(one.do === 'send' ? 'sent' : 'scheduled')
    }
  }
}

interface Place {
  team: ApprovalTeam
  model: Model
  tokens: readonly string[]
  accounts: readonly string[]
}

/** Every third text of a segment leaves one person. */
const buildExpression = (text: number): string =>
  text === 2 ? 'user.last_name == "Holm 0"' : `user.first_name != "${text}"`

function request(team: ApprovalTeam, one: Act, token: string) {
  const caller = { token }
  switch (one.do) {
    case 'request':
      return team.request(caller)
    case 'approve':
      return team.approve(caller)
    case 'reject':
      return team.reject(caller)
    case 'schedule':
      return team.schedule(caller)
    case 'send':
      return team.sendNow(caller)
    case 'change message':
      return patch(
        `/v1/email-messages/${team.ready.message}`,
        { blocks: [aBlock(`Text ${one.value}`)], subject: { en: '{{ campaign.name }}', da: '{{ campaign.name }}' } },
        token,
      )
    case 'change segment':
      return patch(`/v1/segments/${team.ready.segment.id}`, { expression: buildExpression(one.value) }, token)
    case 'change sender':
      return team.change('sender', caller, `Sender ${one.value}`)
    default:
      return team.change('campaign', caller, `Name ${one.value}`)
  }
}

const handlers: Record<Verb, (ctx: Ctx, campaign: LoadedCampaign) => Promise<unknown>> = {
  request: (ctx, campaign) => requestCampaignApproval(ctx, campaign, {}),
  approve: (ctx, campaign) => approveCampaign(ctx, campaign, {}),
  reject: (ctx, campaign) => rejectCampaign(ctx, campaign, { note: 'No' }),
  schedule: (ctx, campaign) => scheduleCampaign(ctx, campaign, { scheduled_at: formatHourFromNow() }),
  send: (ctx, campaign) => sendCampaignNow(ctx, campaign),
}

/** Repeats a verb that lost a race, as requests are repeated. */
async function runVerb(ctx: Ctx, verb: Verb, id: string): Promise<boolean> {
  for (;;)
    try {
      await handlers[verb](ctx, await findAuthorizedCampaign(ctx, id))
      return true
    } catch (error) {
      if (error instanceof AppError) return false
      if (!(error instanceof LostRace)) throw error
    }
}

/** Ends what was started, and compares it with what was approved. */
async function finish({ team, model }: Place): Promise<void> {
  const { id } = team.ready.campaign
  const { status } = await loadCampaign(id)
  if (status === 'calculating' || status === 'sending') await getCampaignObject(id).wake(id)
  const row =
    model.status === 'draft' || model.status === 'scheduled'
      ? await loadCampaign(id)
      : await runUntil(id, ['sent', 'failed'])
  expect(row.status).toBe(model.status)
  if (model.status !== 'sent') return expect(await listCaptured(id)).toEqual([])
  const messages = await listCaptured(id)
  expect(messages).toHaveLength(model.texts.segment === 2 ? 1 : 2)
  for (const { body, sender } of messages) {
    if (model.texts.message >= 0) expect(body).toContain(`Text ${model.texts.message}`)
    if (model.texts.sender >= 0) expect(sender).toContain(`Sender ${model.texts.sender}`)
  }
}

async function perform(place: Place, one: Act): Promise<void> {
  const { team, model, tokens, accounts } = place
  if (one.do === 'tick') {
    await team.startDue()
    model.perform(one, '')
    return finish(place)
  }
  const reply = await request(team, one, tokens[one.by] ?? '')
  expect([one.do, reply.status]).toEqual([one.do, model.perform(one, accounts[one.by] ?? '') ? 200 : 409])
}

async function performRace(place: Place, one: Act & { do: Verb; overtaker: Act }): Promise<void> {
  const { team, model, accounts } = place
  const ctx = createContextAt(Date.now(), { id: accounts[one.by] ?? '' })
  const batch = ctx.db.batch.bind(ctx.db)
  let isOvertaken = false
  ctx.db.batch = async (statements) => {
    if (!isOvertaken) {
      isOvertaken = true
      await perform(place, one.overtaker)
    }
    return batch(statements)
  }
  const succeeds = await runVerb(ctx, one.do, team.ready.campaign.id)
  // The overtaker has run before the commit. A verb that was refused at once has committed nothing.
  expect([one.do, succeeds]).toEqual([one.do, model.perform(one, accounts[one.by] ?? '')])
  if (!isOvertaken) await perform(place, one.overtaker)
}

async function givenPlace(): Promise<Place> {
  const team = await givenApprovalTeam()
  const { author, reviewer, admin } = team
  const { token } = await create<{ token: string }>('/v1/auth/tokens', { name: 'second', member_id: author.id })
  return {
    team,
    model: new Model(),
    tokens: [author.token, token, reviewer.token, admin.token, rootToken],
    accounts: [author.account_id, author.account_id, reviewer.account_id, admin.account_id, 'root'],
  }
}

it('a campaign starts only with the approval of another account than the two that requested it and changed it last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
      const place = await givenPlace()
      for (const one of steps) {
        if ('overtaker' in one) await performRace(place, one)
        else await perform(place, one)
        await finish(place)
        if (place.model.status === 'sent') return
      }
    }),
    { numRuns: dearRuns(30, 10) },
  )
})
