import type { CallbackSender } from '../../domain/wallet/google-callback.ts'
import type { EditionContent, PassContent } from '../../domain/wallet/wallet-pass.ts'

export interface ApplePass {
  content: PassContent
  /** The token that the phone sends to the web service. */
  token: string
}

type RequestedPass =
  | { platform: 'apple'; content: PassContent; download_url: string }
  | { platform: 'google'; content: PassContent }

/**
 * permanent: this call can never succeed. configuration: no call succeeds before somebody corrects the account.
 * transient: the call may succeed later. gone: Google does not have the pass or the class.
 */
export type GoogleResult =
  | { ok: true }
  | { ok: false; kind: 'permanent' | 'configuration' | 'transient' | 'gone'; code: string }

/** refused: this push can never succeed. off: push is not configured. transient: the push may succeed later. */
export type PushResult = 'sent' | 'gone' | 'refused' | 'transient' | 'off'

/** A notification to a phone that a pass has changed. */
export interface Push {
  pass_id: string
  change_number: number
  push_token: string
}

export interface PassesGateway {
  /**
   * Creates the link that adds the pass to the wallet of whoever opens it. Google must have stored the pass. Throws
   * when the account at Google is invalid.
   */
  createAddUrl: (pass: RequestedPass) => Promise<string>
  /**
   * Stores a pass and the class of its edition at Google. A class that Google has already stays as it is. Repeating it
   * does no harm. Never throws.
   */
  storeGoogle: (content: PassContent, edition: EditionContent) => Promise<GoogleResult>
  /** Updates Google's copy of a pass. Repeating it does no harm. Never throws. */
  updateGoogle: (content: PassContent, changeNumber: number) => Promise<GoogleResult>
  /** Updates Google's class of an edition. Repeating it does no harm. Never throws. */
  updateGoogleClass: (edition: EditionContent, changeNumber: number) => Promise<GoogleResult>
  /** Builds a .pkpass file. */
  buildApplePackage: (pass: ApplePass) => Promise<Uint8Array<ArrayBuffer>>
  /** Makes a phone request the changes of a pass. Never throws. */
  pushApple: (push: Push) => Promise<PushResult>
  /** Lists who may sign callbacks. `isFresh` reads the keys again instead of using cached ones. */
  loadCallbackSenders: (isFresh: boolean) => Promise<readonly CallbackSender[]>
}
