import { Alert, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, getWithEtag, type Schema } from '../../api'
import { useArchivedReason } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { EditForm } from '../../parts/edit-form'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { fill, loadWords, plural, words } from '../../words'
import { MergeDialog } from './merge-dialog'
import { ProductFields } from './product-fields'
import { productLabels, readProduct, toProductBody } from './product-values'
import { ProductState } from './products'
import { useSales } from './sales'

const catalogueWords = await loadWords('catalogue')

const route = getRouteApi('/shell/editions/$edition/products/$product')
const t = catalogueWords.products

type Product = Schema['Product']

export function Product() {
  const { edition, product: id } = route.useParams()
  const params = { path: { id } }
  const product = useQuery(getWithEtag('/v1/products/{id}', { params }))
  const reason = useArchivedReason()
  return (
    <Loaded query={product}>
      {(latest) => (
        <Stack gap="md" maw={980}>
          <ProductHeading product={latest.data} edition={edition} />
          {latest.data.is_merging && (
            <Alert variant="outline" color="blue">
              {t.merging}
            </Alert>
          )}
          <EditForm
            key={id}
            latest={latest}
            read={readProduct}
            operation="updateProduct"
            reason={reason}
            labels={productLabels}
            save={(changes, headers) =>
              api.PATCH('/v1/products/{id}', { params, body: toProductBody(changes), headers })
            }
          >
            {(form) => <ProductFields form={form} edition={edition} organization={latest.data.organization_id} />}
          </EditForm>
        </Stack>
      )}
    </Loaded>
  )
}

function ProductHeading({ product, edition }: { product: Product; edition: string }) {
  const navigate = useNavigate()
  const reason = useArchivedReason()
  const sold = useSales(edition)?.get(product.id) ?? 0
  const [dialog, setDialog] = useState<'merge' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const list = { to: '/editions/$edition/products', params: { edition } } as const
  return (
    <>
      <Heading
        title={product.name}
        mark={<ProductState isDraft={product.is_draft} />}
        facts={plural(sold, t.sold)}
        back={{ link: list, label: t.title }}
        actions={
          <Group gap="xs">
            <ActionButton
              variant="default"
              operation="mergeProducts"
              reason={reason ?? (product.is_merging ? t.merging : null)}
              onClick={() => setDialog('merge')}
            >
              {t.merge}
            </ActionButton>
            <ActionButton
              variant="default"
              operation="deleteProduct"
              reason={reason}
              onClick={() => setDialog('delete')}
            >
              {words.common.delete}
            </ActionButton>
          </Group>
        }
      />
      <MergeDialog product={product} isOpen={dialog === 'merge'} close={close} />
      <FormDialog
        title={t.delete}
        isOpen={dialog === 'delete'}
        close={close}
        submitLabel={words.common.delete}
        isDangerous
        done={catalogueWords.deleted}
        initialValues={{}}
        send={(_, headers) => api.DELETE('/v1/products/{id}', { params: { path: { id: product.id } }, headers })}
        onSent={() => navigate(list)}
      >
        {() => <Text size="sm">{fill(t.deleteText, { name: product.name })}</Text>}
      </FormDialog>
    </>
  )
}
