import type { Database, Statement } from './db/database.ts'
import type { IdempotencyKey, IdempotencyStore, StoredAnswer } from './db/idempotency.ts'
import type { Caller } from './domain/accounts/access.ts'
import type { AuditEntry } from './domain/audit.ts'
import type { RecipientEvent } from './domain/campaigns/recipient-events.ts'
import type { CampaignSenders } from './domain/campaigns/sender.ts'
import type { IdKind } from './domain/ids.ts'
import type { Mailbox } from './domain/messaging/mailbox.ts'
import type { WalletVendors } from './domain/wallet/wallet.ts'
import type { WebhookSenders } from './domain/webhooks/webhook-sender.ts'
import type { DnsGateway } from './gateways/dns/dns.ts'
import type { EmailGateway } from './gateways/email/email.ts'
import type { FileScanner } from './gateways/file-scan/file-scan.ts'
import type { FileStore } from './gateways/files/files.ts'
import type { ImagesGateway } from './gateways/images/images.ts'
import type { PassesGateway } from './gateways/passes/passes.ts'
import type { PaymentGateways } from './gateways/payments/payments.ts'
import type { SmsGateway } from './gateways/sms/sms.ts'
import type { WebhookPost } from './gateways/webhook-post/webhook-post.ts'

export type { IdempotencyKey, StoredAnswer }

export interface Config {
  environment: 'production' | 'development' | 'test'
  /** What RateLimit-Policy announces; 0 announces and enforces nothing. */
  rateLimitPerMinute: number
  rootToken: string | null
  /** Where this service is reached: links in mails begin with it. No slash at the end. */
  publicUrl: string
  /** Signs the links of mails. */
  linkSigningKey: string
  /** Seals the stored answers to requests with an Idempotency-Key; null where no secret is configured. */
  idempotencySecret: string | null
  /** Sends what has no sender of its own. */
  emailFrom: Mailbox
  email: MessageProvider
  sms: MessageProvider
  dns: { name: string; apiBase: string }
  wallet: WalletConfig
  payments: {
    /** Another address than Stripe's own; empty for that. */
    apiBase: string
    /** What the secrets of merchant accounts are sealed with: the first seals, all open. Empty where none is set. */
    secrets: readonly string[]
  }
  webhooks: {
    /** Permits http and loopback targets. */
    allowInsecure: boolean
    /** Hosts that are this service. */
    ownHosts: readonly string[]
    /** Seconds before the second and every further attempt. */
    schedule: readonly number[]
  }
  files: {
    /** Where files are served. No slash at the end. */
    url: string
    /** The scanner that reads files before they are served; null for none. */
    scan: { url: string; key: string } | null
  }
  oidc: { issuer: string; audience: string } | null
  /** The mark of ids and tokens that are made here; empty for none. */
  cell: string
  /** The milliseconds after which rows are deleted by sweeps. */
  kept: { webhooks: number; auditLog: number }
}

interface MessageProvider {
  /** `capture` keeps messages for `/dev/outbox` instead of sending them. */
  name: string
  apiBase: string
  apiKey: string
  webhookSecret: string
}

export interface WalletConfig {
  /** `capture` makes passes without a signature, and keeps what would go to the platforms. */
  name: string
  vendors: WalletVendors
  apple: {
    passTypeId: string
    teamId: string
    /** PEM, of the pass type, of its key, and of who issued it. */
    certificate: string
    privateKey: string
    issuerCertificate: string
  }
  /** `serviceAccount` is the JSON of a key file. */
  google: { issuerId: string; serviceAccount: string; apiBase: string }
}

/** An endpoint has something due. */
export interface DeliverMessage {
  type: 'webhook.deliver'
  endpoint_id: string
}

/** A segment's calculation of this number has been begun. */
export interface CalculateMessage {
  type: 'segment.calculate'
  segment_id: string
  epoch: number
}

/** Transactional messages are due. */
export interface EmailSendMessage {
  type: 'email.send'
}

/** Refunds are due. */
export interface PayRefundsMessage {
  type: 'refund.pay'
}

/** A batch of refunds has something to count or to request. */
export interface WorkRefundBatchMessage {
  type: 'refund-batch.work'
  batch_id: string
}

/** A campaign has something to send. The consumer gets chunks from its object. */
export interface SendChunksMessage {
  type: 'campaign.send-chunks'
  campaign_id: string
}

/** Events of messages of a campaign, for its object. */
export interface CampaignEventsMessage {
  type: 'campaign.events'
  campaign_id: string
  events: RecipientEvent[]
}

/** The background work of an import is to continue; `epoch` says which start of it. */
export interface ImportWorkMessage {
  type: 'import.work'
  import_id: string
  epoch: number
}

/** The orders of an import are counted by what would become of them; `seen` is when their counting was last seen. */
export interface ImportPreviewMessage {
  type: 'import.preview'
  import_id: string
  version: number
  seen: number | null
}

/**
 * What each queue carries. Most messages only say where to look: the tables are the truth, and sweeps find what
 * a lost message missed.
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

/** What background work receives, and every verb too. */
export interface JobCtx {
  db: Database
  config: Config
  /** Milliseconds UTC. */
  now: () => number
  newId: (kind: IdKind) => string
  jobQueue: JobQueue
  /** The objects of campaigns. */
  senders: CampaignSenders
  /** The objects that post webhooks. */
  webhookSenders: WebhookSenders
  webhookPost: WebhookPost
  email: EmailGateway
  sms: SmsGateway
  dns: DnsGateway
  passes: PassesGateway
  payments: PaymentGateways
  files: FileStore
  /** Null where nothing makes variants of images. */
  images: ImagesGateway | null
  /** Null without a scanner. */
  scanner: FileScanner | null
  /** Makes the context for work of a request that goes on after its answer. Background work has none. */
  afterAnswer?: () => JobCtx
}

/** What every verb receives. Time, ids and randomness come from here and from nowhere else. */
export interface Ctx extends JobCtx {
  caller: Caller
  /** The primary for requests that may write; any replica for reads. */
  db: Database
  requestId: string
  randomBytes: (length: number) => Uint8Array
  idempotency: IdempotencyStore
  /** Statements for the transaction that decides the request: the entry of the audit log where it changes something, and the answer where it has an Idempotency-Key. */
  settle: (result: unknown, isChange: boolean) => Promise<Statement[]>
  /** The statement that writes an entry of this request into the audit log. */
  recordAudit: (entry: AuditEntry) => Statement
  /** Work to do once the answer is out, if the request succeeded. It may be lost: a sweep makes up for it. */
  afterCommit: (work: () => Promise<unknown>) => void
}
