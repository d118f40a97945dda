import type { TxtAnswer } from '../../domain/messaging/sender-domains.ts'

export type { TxtAnswer }

export interface DnsGateway {
  /** The TXT records of a name. The parts of a record are joined. Never throws. */
  lookUpTxt(name: string): Promise<TxtAnswer>
}

export interface CapturedRecords {
  findTexts: (name: string) => Promise<readonly string[]>
}

/** Returns records that a developer or a test has set. */
export const capturedDns = (records: CapturedRecords): DnsGateway => ({
  lookUpTxt: async (name) => ({ ok: true, texts: await records.findTexts(name) }),
})
