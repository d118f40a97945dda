import { DurableObject } from 'cloudflare:workers'
import type { JobCtx } from '../../context.ts'
import type { RecipientEvent } from '../../domain/campaigns/recipient-events.ts'
import type { CampaignSender, RecipientsQuery } from '../../domain/campaigns/sender.ts'
import type { LeftOut, Report } from '../../domain/campaigns/sending-policy.ts'
import { CampaignDesk } from './coordinator.ts'

/** The Durable Object of each campaign: what can be called from outside, and nothing else. */
export const campaignSender = <Bindings>(open: (env: Bindings) => JobCtx) =>
  class extends DurableObject<Bindings> implements CampaignSender {
    readonly #desk: CampaignDesk

    constructor(state: DurableObjectState, env: Bindings) {
      super(state, env)
      this.#desk = new CampaignDesk(state.storage, open(env))
    }

    wake(campaignId: string, at?: number) {
      return this.#desk.wake(campaignId, at)
    }

    cancel(campaignId: string, run: number) {
      return this.#desk.cancel(campaignId, run)
    }

    forget() {
      return this.#desk.forget()
    }

    snapshot() {
      return this.#desk.snapshot()
    }

    retryable() {
      return this.#desk.retryable()
    }

    recipients(query: RecipientsQuery) {
      return this.#desk.recipients(query)
    }

    recipient(n: number) {
      return this.#desk.recipient(n)
    }

    erase(n: number) {
      return this.#desk.erase(n)
    }

    claim(lease: string) {
      return this.#desk.claim(lease)
    }

    begin(chunk: number, lease: string, leftOut: readonly LeftOut[]) {
      return this.#desk.begin(chunk, lease, leftOut)
    }

    report(report: Report, lease: string) {
      return this.#desk.report(report, lease)
    }

    apply(events: readonly RecipientEvent[]) {
      return this.#desk.apply(events)
    }

    override alarm() {
      return this.#desk.alarm()
    }
  }
