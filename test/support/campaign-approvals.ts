import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { patch, post, type Reply } from './api.ts'
import { runAlarm } from './campaigns.ts'
import { givenMember, type Member } from './seeding/members.ts'
import { type Crowd, type ReadyCampaign, seedCrowd, seedReady } from './seeding/messaging/campaigns.ts'
import { aBlock } from './seeding/messaging/email-messages.ts'
import { formatHourFromNow, write } from './seeding/rows.ts'

/** The parts of what a campaign sends that other operations change. */
export type Part = 'campaign' | 'message' | 'segment' | 'sender'
export const parts: Part[] = ['campaign', 'message', 'segment', 'sender']

type Token = Pick<Member, 'token'>

/** A campaign to the customers of an edition, in an organisation that requires approvals, and three of its members. */
export class ApprovalTeam {
  readonly crowd: Crowd
  readonly ready: ReadyCampaign
  readonly admin: Member
  /** A manager of the edition, and one of the organisation. */
  readonly author: Member
  readonly reviewer: Member
  path: string

  constructor(
    crowd: Crowd,
    ready: ReadyCampaign,
    [admin, author, reviewer]: readonly [admin: Member, author: Member, reviewer: Member],
  ) {
    this.crowd = crowd
    this.ready = ready
    this.admin = admin
    this.author = author
    this.reviewer = reviewer
    this.path = `/v1/campaigns/${ready.campaign.id}`
  }

  async requireApproval(isRequired: boolean): Promise<Reply> {
    const path = `/v1/organizations/${this.crowd.organization}`
    const reply = await patch(path, { requires_campaign_approval: isRequired }, this.admin.token)
    expect(reply.status).toBe(200)
    return reply
  }

  request(member: Token = this.author, body: object = {}): Promise<Reply> {
    return post(`${this.path}/request-approval`, body, member.token)
  }

  approve(member: Token = this.reviewer, body: object = {}): Promise<Reply> {
    return post(`${this.path}/approve`, body, member.token)
  }

  reject(member: Token = this.reviewer, body: object = { note: 'No' }): Promise<Reply> {
    return post(`${this.path}/reject`, body, member.token)
  }

  sendNow(member: Token = this.author): Promise<Reply> {
    return post(`${this.path}/send-now`, {}, member.token)
  }

  schedule(member: Token = this.author): Promise<Reply> {
    return post(`${this.path}/schedule`, { scheduled_at: formatHourFromNow() }, member.token)
  }

  async getApproved(approver: Member = this.reviewer): Promise<void> {
    expect((await this.request()).status).toBe(200)
    expect((await this.approve(approver)).status).toBe(200)
  }

  async getScheduled(approver: Member = this.reviewer): Promise<void> {
    await this.getApproved(approver)
    expect((await this.schedule()).status).toBe(200)
  }

  /** Lets the time of the schedule come. */
  async startDue(): Promise<void> {
    const { id } = this.ready.campaign
    await write(sql`update campaigns set scheduled_at = ${Date.now() - 1000} where id = ${id} and status = 'scheduled'`)
    await runAlarm(id)
  }

  /** Changes a part of what the campaign sends. */
  change(part: Part, member: Token, text: string): Promise<Reply> {
    const { segment, message } = this.ready
    const requests: Record<Part, [string, object]> = {
      campaign: [this.path, { name: text }],
      message: [`/v1/email-messages/${message}`, { blocks: [aBlock(text)], subject: { en: text, da: text } }],
      segment: [`/v1/segments/${segment.id}`, { expression: `user.first_name != "${text}"` }],
      sender: [`/v1/editions/${this.crowd.edition}`, { email_sender_name: text }],
    }
    const [path, body] = requests[part]
    return patch(path, body, member.token)
  }
}

export async function givenApprovalTeam(): Promise<ApprovalTeam> {
  const crowd = await seedCrowd(2)
  const ready = await seedReady(crowd)
  const organization = { id: crowd.organization }
  const members = [
    await givenMember(organization, 'admin'),
    await givenMember(organization, 'manager', crowd.edition),
    await givenMember(organization, 'manager'),
  ] as const
  await write(sql`update segments set edition_id = ${crowd.edition} where id = ${ready.segment.id}`)
  const team = new ApprovalTeam(crowd, ready, members)
  await team.requireApproval(true)
  return team
}
