import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { flag, choice, readListSearch, readSearch, text } from '../../search'

const list = createRoute({
  getParentRoute: () => edition,
  path: 'campaigns',
  validateSearch: readListSearch({
    search: text,
    status: choice(['draft', 'scheduled', 'calculating', 'sending', 'sent', 'failed', 'cancelled']),
    channel: choice(['email', 'sms']),
    is_paused: flag,
    segment_id: text,
    email_message_id: text,
    ordering: choice([
      'created',
      '-created',
      'modified',
      '-modified',
      'name',
      '-name',
      'scheduled_at',
      '-scheduled_at',
      'total_recipients',
      '-total_recipients',
    ]),
  }),
  component: lazyRouteComponent(() => import('./list'), 'Campaigns'),
})

const detail = createRoute({
  getParentRoute: () => edition,
  path: 'campaigns/$campaign',
  validateSearch: readSearch({ step: choice(['audience', 'content', 'test', 'when']) }),
  component: lazyRouteComponent(() => import('./campaign'), 'Campaign'),
})

const recipients = createRoute({
  getParentRoute: () => edition,
  path: 'campaigns/$campaign/recipients',
  validateSearch: readListSearch({
    search: text,
    state: choice(['pending', 'sent', 'failed', 'skipped', 'cancelled']),
    reason: choice([
      'no_address',
      'no_consent',
      'unsubscribed',
      'bounced',
      'inactive',
      'duplicate_address',
      'rejected',
      'unreachable',
      'rate_limited',
      'unknown',
    ]),
    engagement: choice([
      'delivered',
      'opened',
      'not_opened',
      'clicked',
      'not_clicked',
      'bounced',
      'complained',
      'unsubscribed',
    ]),
    link: text,
    ordering: choice(['address', '-address', 'sent_at', '-sent_at']),
  }),
  component: lazyRouteComponent(() => import('./recipients'), 'Recipients'),
})

export const campaignRoutes = [list, detail, recipients] as const
