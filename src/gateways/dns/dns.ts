import type { TxtAnswer } from '../../domain/messaging/sender-domains.ts'

export type { TxtAnswer }

export interface DnsGateway {
  /** Reads the TXT records of a name, the parts of each joined. Never throws. */
  txt(name: string): Promise<TxtAnswer>
}

export interface CapturedRecords {
  textsAt: (name: string) => Promise<readonly string[]>
}

/** Creates a gateway that returns records which a developer or a test has set. */
export const createDnsCapture = (records: CapturedRecords): DnsGateway => ({
  txt: async (name) => ({ ok: true, texts: await records.textsAt(name) }),
})
