import type { CallbackSender } from '../../domain/wallet/google-callback.ts'
import type { PassContent } from '../../domain/wallet/wallet-pass.ts'

/** The content of a pass for Apple's wallet. */
export interface ApplePass {
  content: PassContent
  /** The token that the phone sends to the web service. */
  token: string
}

/** A requested pass. */
type RequestedPass =
  | { platform: 'apple'; content: PassContent; download_url: string }
  | { platform: 'google'; content: PassContent }

/**
 * permanent: this update never goes. configuration: none is sent before the account is corrected. transient: it may be
 * sent later. gone: there is nothing to update, because no phone has the pass.
 */
export type UpdateResult =
  | { ok: true }
  | { ok: false; kind: 'permanent' | 'configuration' | 'transient' | 'gone'; code: string }

/** refused: this push never goes. off: none goes. transient: Apple takes none at present. */
export type PushResult = 'sent' | 'gone' | 'refused' | 'transient' | 'off'

/** A push to a phone: a pass has changed. */
export interface Push {
  pass_id: string
  change_number: number
  push_token: string
}

export interface PassesGateway {
  /** The address that adds the pass to the wallet of the person who opens it. */
  addUrl: (pass: RequestedPass) => Promise<string>
  /** The bytes of a .pkpass. */
  applePackage: (pass: ApplePass) => Promise<Uint8Array<ArrayBuffer>>
  /** Who may sign callbacks; `isFresh` reads cached keys anew. Throws without any answer. */
  callbackSenders: (isFresh: boolean) => Promise<readonly CallbackSender[]>
  /** Brings Google's copy of a pass up to date; repeating it does no harm. Never throws. */
  updateGoogle: (content: PassContent, changeNumber: number) => Promise<UpdateResult>
  /** Makes a phone request the changes; `off` where no connection to Apple is bound. Never throws. */
  pushApple: (push: Push) => Promise<PushResult>
}
