#!/bin/sh
# Writes weka_bags.arff and weka_sparse.arff, with Weka itself (Debian: apt install weka).
set -eu
cd "$(dirname "$0")"
jar=${WEKA_JAR:-/usr/share/java/weka.jar}
table=$(mktemp --suffix=.arff)
trap 'rm -f "$table"' EXIT
cat > "$table" <<'END'
@relation 'a table of instances'
@attribute bag_id {'mol 1',mol2,"it's 3"}
@attribute size numeric
@attribute 'log P' numeric
@attribute colour {red,'dark blue','50%, or more'}
@attribute zeros numeric
@attribute class {active,'not active'}
@data
'mol 1',1.5,-2,red,0,active
'mol 1',0,1e-3,'dark blue',0,active
mol2,3,?,'50%, or more',7,'not active'
"it's 3",4,0.25,red,0,active
"it's 3",0,0,red,0,active
"it's 3",6,-1.75,'dark blue',0,active
END
java -cp "$jar" weka.filters.unsupervised.attribute.PropositionalToMultiInstance -i "$table" -o weka_bags.arff -c last
java -cp "$jar" weka.filters.unsupervised.instance.NonSparseToSparse -i "$table" -o weka_sparse.arff -c last
