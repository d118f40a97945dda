import { List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { get, type Schema } from '../../api'
import { useEdition, useEditionId } from '../../caller'
import { Section } from '../../parts/section'
import { loadWords } from '../../words'

const t = await loadWords('emailMessages')
const maxCampaigns = 20

/** Lists the senders of the message: the edition by itself, and campaigns. */
export function Uses({ message }: { message: Schema['EmailMessageDetail'] }) {
  const edition = useEdition()
  const editionId = useEditionId() ?? ''
  const query = { email_message_id: message.id, ordering: ['-created' as const], page_size: maxCampaigns }
  const campaigns = useQuery(get('/v1/campaigns', { params: { query } }))
  const isReceipt = edition?.transaction_receipt_email_id === message.id
  const isConfirmation = edition?.refund_confirmation_email_id === message.id
  const list = campaigns.data?.results ?? []
  return (
    <Section title={t.usedIn}>
      {list.length === 0 && !isReceipt && !isConfirmation && (
        <Text size="sm" c="dimmed">
          {t.unused}
        </Text>
      )}
      <List size="sm" spacing={4}>
        {isReceipt && <List.Item>{t.isReceipt.replace('{edition}', edition?.full_name ?? '')}</List.Item>}
        {isConfirmation && <List.Item>{t.isConfirmation.replace('{edition}', edition?.full_name ?? '')}</List.Item>}
        {list.map(({ id, name }) => (
          <List.Item key={id} className="break">
            <Link
              className="link"
              to="/editions/$edition/campaigns/$campaign"
              params={{ edition: editionId, campaign: id }}
            >
              {name}
            </Link>
          </List.Item>
        ))}
      </List>
    </Section>
  )
}
