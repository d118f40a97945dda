import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { flag, oneOf, readListSearch, readSearch, text } from '../../search'

const list = createRoute({
  getParentRoute: () => edition,
  path: 'campaigns',
  validateSearch: readListSearch({
    search: text,
    status: oneOf(['draft', 'scheduled', 'calculating', 'sending', 'sent', 'failed', 'cancelled']),
    channel: oneOf(['email', 'sms']),
    is_paused: flag,
    segment_id: text,
    email_message_id: text,
    ordering: oneOf([
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
  validateSearch: readSearch({ step: oneOf(['audience', 'content', 'test', 'when']) }),
  component: lazyRouteComponent(() => import('./campaign'), 'Campaign'),
})

const recipients = createRoute({
  getParentRoute: () => edition,
  path: 'campaigns/$campaign/recipients',
  validateSearch: readListSearch({
    search: text,
    state: oneOf(['pending', 'sent', 'failed', 'skipped', 'cancelled']),
    reason: oneOf([
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
    engagement: oneOf([
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
    ordering: oneOf(['address', '-address', 'sent_at', '-sent_at']),
  }),
  component: lazyRouteComponent(() => import('./recipients'), 'Recipients'),
})

export const campaignRoutes = [list, detail, recipients] as const
