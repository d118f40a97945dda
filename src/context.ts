import type { Database, Statement } from './db/database.ts'
import type { IdempotencyKey, IdempotencyStore, StoredResponse } from './db/idempotency.ts'
import type { Caller } from './domain/accounts/access.ts'
import type { SignInMethod } from './domain/accounts/sign-in.ts'
import type { NewAuditEntry } from './domain/audit.ts'
import type { RecipientEvent } from './domain/campaigns/recipient-events.ts'
import type { CampaignSenders } from './domain/campaigns/sender.ts'
import type { IdKind } from './domain/ids.ts'
import type { Mailbox } from './domain/messaging/mailbox.ts'
import type { Meter } from './domain/meter.ts'
import type { HoldConfig } from './domain/waiting.ts'
import type { WalletVendors } from './domain/wallet/wallet.ts'
import type { WebhookSenders } from './domain/webhooks/webhook-sender.ts'
import type { DnsGateway } from './gateways/dns/dns.ts'
import type { EmailGateway } from './gateways/email/email.ts'
import type { FileScanner } from './gateways/file-scan/file-scan.ts'
import type { FileStore } from './gateways/files/files.ts'
import type { IdentityProviders } from './gateways/identity/identity.ts'
import type { ImagesGateway } from './gateways/images/images.ts'
import type { PassesGateway } from './gateways/passes/passes.ts'
import type { PaymentGateways } from './gateways/payments/payments.ts'
import type { SmsGateway } from './gateways/sms/sms.ts'
import type { WebhookPost } from './gateways/webhook-post/webhook-post.ts'

export type { IdempotencyKey, StoredResponse }

export interface Config extends HoldConfig {
  environment: 'production' | 'development' | 'test'
  /** The tokens of the superuser: the present one, and the previous one. Empty: there is no superuser. */
  rootTokens: readonly string[]
  /** The tokens that may read `/metrics`. Empty: there is no `/metrics`. */
  metricsTokens: readonly string[]
  /** The public URL of this service, without a slash at the end. Links in messages begin with it. */
  publicUrl: string
  /** Signs the links in messages. */
  linkSigningKey: string
  /** The keys with which links are read: the one that signs, and earlier ones. Empty: none is configured. */
  linkReadingKeys: readonly string[]
  /**
   * Encrypt the stored responses to requests with an Idempotency-Key. The first one encrypts, and all decrypt. Empty: none
   * is configured.
   */
  idempotencySecrets: readonly string[]
  /** The sender of e-mails that have no other one. */
  emailFrom: Mailbox
  email: MessageProvider
  sms: MessageProvider
  dns: { name: string; apiBase: string }
  wallet: WalletConfig
  payments: {
    /** Replaces the URL of Stripe's API. Empty: Stripe's own. */
    apiBase: string
    /** Encrypt the secrets of merchant accounts. The first one encrypts, and all decrypt. Empty: none is configured. */
    secrets: readonly string[]
  }
  webhooks: {
    /** Allows http and loopback URLs. */
    allowInsecure: boolean
    /** The hosts of this service, to which webhooks may not go. */
    ownHosts: readonly string[]
    /** Seconds before the second and every further attempt. */
    schedule: readonly number[]
  }
  /** The address to which alarms are posted, and the key that signs them. Null: they are not posted. */
  alerts: { url: string; secret: string } | null
  files: {
    /** The URL of files, without a slash at the end. */
    url: string
    /** The scanner that checks files before they are served, or null. */
    scan: { url: string; key: string } | null
  }
  oidc: { issuer: string; audience: string } | null
  signIn: {
    /** The ways to get a session that are configured and allowed. */
    methods: readonly SignInMethod[]
    /** The id with which the console signs in at the OpenID Connect issuer. */
    clientId: string | null
    /** Cloudflare Access, if it stands in front of this service. */
    access: { teamDomain: string; audience: string } | null
  }
  /** Two characters that name this deployment in ids and tokens, so that a router finds it. Empty: it has no name. */
  cell: string
  /** The milliseconds after which sweeps delete rows. */
  retentionMs: { webhooks: number; auditLog: number }
}

interface MessageProvider {
  /** `capture` stores messages for `/dev/outbox` instead of sending them. `none` refuses to send. */
  name: string
  apiBase: string
  apiKey: string
  webhookSecret: string
}

export interface WalletConfig {
  /** `capture` creates passes without a signature and stores the calls to Apple and Google. */
  name: string
  vendors: WalletVendors
  apple: {
    passTypeId: string
    teamId: string
    /** PEM, like the next two fields. */
    certificate: string
    privateKey: string
    issuerCertificate: string
  }
  /** `serviceAccount` is the content of a JSON key file. */
  google: { issuerId: string; serviceAccount: string; apiBase: string }
}

/** An endpoint has deliveries that are due. */
export interface DeliverMessage {
  type: 'webhook.deliver'
  endpoint_id: string
}

/** A calculation of a segment has started or must go on. */
export interface CalculateMessage {
  type: 'segment.calculate'
  segment_id: string
  epoch: number
}

/** Transactional e-mails are due. */
export interface EmailSendMessage {
  type: 'email.send'
}

/** Refunds are due. */
export interface PayRefundsMessage {
  type: 'refund.pay'
}

/** A refund batch has orders to count or refunds to request. */
export interface WorkRefundBatchMessage {
  type: 'refund-batch.work'
  batch_id: string
}

/** A campaign has messages to send. The consumer gets chunks from its Durable Object. */
export interface SendChunksMessage {
  type: 'campaign.send-chunks'
  campaign_id: string
}

/** Events about messages of a campaign, for its Durable Object. */
export interface CampaignEventsMessage {
  type: 'campaign.events'
  campaign_id: string
  events: RecipientEvent[]
}

/** The background work of an import must go on. A message with an old `epoch` is ignored. */
export interface ImportWorkMessage {
  type: 'import.work'
  import_id: string
  epoch: number
}

/** The preview of an import must count what would happen to its orders. */
export interface ImportPreviewMessage {
  type: 'import.preview'
  import_id: string
}

/**
 * The messages of each queue. Most only say where to look: the tables are the truth, and sweeps find what a lost message
 * missed.
 */
export interface QueueMessages {
  webhooks: DeliverMessage
  segments: CalculateMessage
  emails: EmailSendMessage
  refunds: PayRefundsMessage | WorkRefundBatchMessage
  campaigns: SendChunksMessage
  'campaign-events': CampaignEventsMessage
  imports: ImportWorkMessage | ImportPreviewMessage
}

export type QueueName = keyof QueueMessages

export interface JobQueue {
  enqueue: <Name extends QueueName>(
    queue: Name,
    messages: readonly QueueMessages[Name][],
    delaySeconds?: number,
  ) => Promise<void>
}

/** The context of background work. */
export interface JobCtx {
  db: Database
  config: Config
  /** Milliseconds UTC. */
  now: () => number
  /** The milliseconds by which `now` is ahead of other machines' clocks. Only development has it, whose clock moves. */
  clockOffsetMs?: (() => number) | undefined
  newId: (kind: IdKind) => string
  jobQueue: JobQueue
  /** The Durable Objects of campaigns. */
  senders: CampaignSenders
  /** Durable Objects that send webhook requests. */
  webhookSenders: WebhookSenders
  webhookPost: WebhookPost
  /** Posts alarms to the operator, also while everything else that goes out is held. */
  alertPost: WebhookPost
  email: EmailGateway
  sms: SmsGateway
  dns: DnsGateway
  passes: PassesGateway
  payments: PaymentGateways
  files: FileStore
  /** Null: the Images binding is missing, so there are no variants of images. */
  images: ImagesGateway | null
  /** Null: no scanner is configured. */
  scanner: FileScanner | null
  /**
   * Creates a context whose clock runs on, for work after the response. Its queries count in the meter. Only the context of
   * a request has it.
   */
  openJobAfterResponse?: (meter?: Meter) => JobCtx
}

/** The context of a request. Time, ids and randomness come only from here. */
export interface Ctx extends JobCtx {
  caller: Caller
  /** The primary database for requests that can write, or any replica for reads. */
  db: Database
  requestId: string
  /**
   * Finds the caller of the request once more, for an answer that takes long. Throws `not_authenticated` when the token has
   * ended.
   */
  authenticateAgain: () => Promise<Caller>
  identity: IdentityProviders
  randomBytes: (length: number) => Uint8Array
  idempotency: IdempotencyStore
  /** The same for every repetition of a request with its Idempotency-Key, and otherwise for this request alone. */
  resumeKey: string
  /**
   * Builds what `commit` writes beside the statements of a verb. `src/http/operations/write-record.ts` sets it for
   * operations that write. For all others it builds nothing.
   */
  recordWrite: (result: unknown, isChange: boolean) => Promise<Statement[]>
  /** The statement that writes an audit entry of this request. */
  recordAudit: (entry: NewAuditEntry) => Statement
  /** Runs work after the response, whatever it is. Call it after the commit. The work may get lost, so a sweep must find what it left undone. */
  afterCommit: (work: () => Promise<unknown>) => void
}
