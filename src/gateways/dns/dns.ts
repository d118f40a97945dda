import type { TxtAnswer } from '../../domain/messaging/sender-domains.ts'

export type { TxtAnswer }

export interface DnsGateway {
  /** The texts of the TXT records at a name, the parts of each joined. Never throws. */
  txt(name: string): Promise<TxtAnswer>
}

export interface CapturedRecords {
  textsAt: (name: string) => Promise<readonly string[]>
}

/** Answers records that a developer or a test has set, without a call. */
export const capturedDns = (records: CapturedRecords): DnsGateway => ({
  txt: async (name) => ({ ok: true, texts: await records.textsAt(name) }),
})
